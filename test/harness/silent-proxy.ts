import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'

export type SilentProxy = {
  url: string
  /** Stops answers on existing and new connections, without closing any. */
  silence: () => void
  /** The same, once this text was passed on to the server. */
  silenceAfter: (text: string) => void
  /** New connections work. The silent ones stay silent, as behind a firewall that dropped their state. */
  serveNew: () => void
  close: () => Promise<void>
}

/** A proxy for any protocol that can stop its connections from answering. */
export const startSilentProxy = async (targetUrl: string): Promise<SilentProxy> => {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  const silenced = new WeakSet<Socket>()
  let isSilent = false
  let lastWord: string | undefined

  const silence = () => {
    isSilent = true
    for (const socket of sockets) silenced.add(socket)
  }
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = dial({ host: target.hostname, port: Number(target.port), noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (isSilent) silenced.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => void (silenced.has(upstream) || client.destroy()))
    client.on('data', (bytes) => {
      if (silenced.has(client)) return
      upstream.write(bytes)
      if (lastWord !== undefined && bytes.includes(lastWord)) {
        lastWord = undefined
        silence()
      }
    })
    upstream.on('data', (bytes) => void (silenced.has(upstream) || client.write(bytes)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    silence,
    silenceAfter: (text) => {
      lastWord = text
    },
    serveNew: () => {
      isSilent = false
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
