import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the system assigns to outgoing connections, and above those that the service chooses for port 0. */
const [lowest, highest] = [20_000, 32_000]
const blockSize = 100
let next = 0
let end = 0

const canListen = async (port: number, keep: boolean): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1').unref()
  const listens = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (listens && !keep) await new Promise((closed) => server.close(closed))
  return listens
}

/** The first port of a block is listened on until this process ends: the others are then its own among all tests of this machine. */
const takeBlock = async (): Promise<void> => {
  const first = lowest + blockSize * randomInt((highest - lowest) / blockSize)
  if (!(await canListen(first, true))) return takeBlock()
  next = first + 1
  end = first + blockSize
}

/** A port that nothing takes between this check and the listening: no other test, no outgoing connection and no service. Each is given once. */
export const freePort = async (): Promise<number> => {
  if (next === end) await takeBlock()
  const port = next++
  return (await canListen(port, false)) ? port : freePort()
}
