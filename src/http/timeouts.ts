/** Longer than a load balancer keeps its idle connections, so that we never close one that it is about to use. */
const keepAliveMs = 72_000
/** Nothing was sent in either direction for this time: the peer is gone, or only occupies the connection. */
const silentMs = 80_000

/**
 * For both listeners: a request's headers and body must arrive within `requestMs` of the opening of the connection, so that no client
 * occupies a connection or memory by sending slowly. Node checks at intervals, by default every thirty seconds.
 */
export const arrivalTimeouts = (requestMs: number) => ({
  requestTimeout: requestMs,
  connectionTimeout: silentMs,
  keepAliveTimeout: keepAliveMs,
  http: { headersTimeout: requestMs, connectionsCheckingInterval: Math.min(1_000, Math.ceil(requestMs / 2)) },
})
