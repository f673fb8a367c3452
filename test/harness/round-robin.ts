import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type RoundRobin = {
  port: number
  add: (port: number) => void
  /** New connections go to the other processes. Open ones stay. */
  remove: (port: number) => void
  close: () => Promise<void>
}

/** A load balancer that gives each connection to the next process that accepts it. */
export const startRoundRobin = async (): Promise<RoundRobin> => {
  const backends: number[] = []
  const open = new Set<Socket>()
  let turn = 0
  const join = (client: Socket, left: number): void => {
    const port = backends[turn % backends.length]
    turn += 1
    if (port === undefined || left === 0) {
      client.destroy()
      return
    }
    const backend = connect({ port, host: '127.0.0.1', noDelay: true })
    let joined = false
    open.add(backend)
    backend.once('connect', () => {
      joined = true
      client.pipe(backend).pipe(client)
    })
    backend.once('error', () => (joined ? client.destroy() : join(client, left - 1)))
    backend.once('close', () => {
      open.delete(backend)
      if (joined) client.destroy()
    })
    client.once('close', () => backend.destroy())
  }
  const server = createServer({ noDelay: true }, (client) => {
    open.add(client)
    client.on('error', () => client.destroy())
    client.once('close', () => open.delete(client))
    join(client, backends.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    add: (port) => void backends.push(port),
    remove: (port) => void backends.splice(backends.indexOf(port), 1),
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
