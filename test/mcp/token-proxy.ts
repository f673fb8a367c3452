import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Adds a credential to every request, for a client that cannot send one. Passes everything else on unchanged. */
export const startTokenProxy = async (target: string, bearer: string): Promise<{ url: string; close: () => Promise<void> }> => {
  const { hostname, port, host } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const own = incoming.headers.host === `127.0.0.1:${(server.address() as AddressInfo).port}`
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${bearer}`,
      host: own ? host : incoming.headers.host,
      // The proxy's own origin is the service's for the service.
      ...(own && incoming.headers.origin?.endsWith(incoming.headers.host ?? '') && { origin: target }),
    }
    const onward = forward({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
