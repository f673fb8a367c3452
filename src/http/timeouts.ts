/** Longer than a load balancer keeps its idle connections, so that it is never us who close one that it is about to use. */
const keepAliveMs = 72_000
/** Nothing was sent in either direction for so long: a peer that is gone, or one that only holds the connection. */
const silentMs = 80_000

/**
 * For both listeners: a request's headers and body have `requestMs` to arrive, counted from the moment the connection is opened, so
 * that no client holds a connection or memory by sending slowly. Node checks at intervals, by default every thirty seconds.
 */
export const arrivalTimeouts = (requestMs: number) => ({
  requestTimeout: requestMs,
  connectionTimeout: silentMs,
  keepAliveTimeout: keepAliveMs,
  http: { headersTimeout: requestMs, connectionsCheckingInterval: Math.min(1_000, Math.ceil(requestMs / 2)) },
})
