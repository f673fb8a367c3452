import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the system assigns to outgoing connections, and above those that the service picks for port 0. */
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

/** Listens on the first port of a block until this process ends, which reserves the block among this machine's tests. */
const takeBlock = async (): Promise<void> => {
  const first = lowest + blockSize * randomInt((highest - lowest) / blockSize)
  if (!(await canListen(first, true))) return takeBlock()
  next = first + 1
  end = first + blockSize
}

/** A port that no other test, connection or service takes between this check and the listening. Each is given once. */
export const freePort = async (): Promise<number> => {
  if (next === end) await takeBlock()
  const port = next++
  return (await canListen(port, false)) ? port : freePort()
}
