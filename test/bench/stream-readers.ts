import { connect } from 'node:net'

// A process that only listens: it reports when all its streams are open, and for each event when 99 of 100 streams had it. It reads its
// sockets itself: an HTTP client would cost as much for each stream as the service.

const [url = '', count = '1', ...credentials] = process.argv.slice(2)
const { host, hostname, port } = new URL(url)
const readerCount = Number(count)
const enough = Math.ceil(readerCount * 0.99)
/** How many streams have had an event; its id is the only line of a frame that begins so. */
const had = new Map<string, number>()
let open = 0

const note = (id: string): void => {
  const streams = (had.get(id) ?? 0) + 1
  had.set(id, streams)
  if (streams === enough) process.stdout.write(`${JSON.stringify({ id, p99: Date.now() })}\n`)
}

const listen = (credential: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.write(`GET /v1/notifications/stream HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${credential}\r\n\r\n`)
    socket.setEncoding('latin1').once('data', (answer: string) => {
      if (!answer.startsWith('HTTP/1.1 200 ')) return reject(new Error(`a stream was answered with ${answer.slice(0, 40)}`))
      open += 1
      resolve()
      socket.on('data', (text: string) => {
        for (let at = text.indexOf('\nid: '); at >= 0; at = text.indexOf('\nid: ', at + 1))
          note(text.slice(at + 5, text.indexOf('\n', at + 5)))
      })
    })
  })

for (let opened = 0; opened < readerCount; opened += 100)
  await Promise.all(
    Array.from({ length: Math.min(100, readerCount - opened) }, (_, at) =>
      listen(credentials[(opened + at) % credentials.length] ?? ''),
    ),
  )
process.stdout.write(`${open}\n`)
