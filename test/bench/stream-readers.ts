import { Agent, request } from 'node:http'

// A process that only listens: it reports when all its streams are open, and for each event when 99 of 100 streams had it.

const [url = '', count = '1', ...credentials] = process.argv.slice(2)
const readerCount = Number(count)
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const receivedAt = new Map<string, number[]>()
let open = 0

const listen = (credential: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = request(
      `${url}/v1/notifications/stream`,
      { agent, headers: { authorization: `Bearer ${credential}` } },
      (answer) => {
        if (answer.statusCode !== 200) return reject(new Error(`a stream was answered with ${answer.statusCode}`))
        open += 1
        resolve()
        answer.setEncoding('utf8').on('data', (text: string) => {
          for (const [, id = ''] of text.matchAll(/^id: ?(\S+)/gm)) {
            const times = receivedAt.get(id) ?? []
            times.push(Date.now())
            receivedAt.set(id, times)
            if (times.length === Math.ceil(readerCount * 0.99))
              process.stdout.write(`${JSON.stringify({ id, p99: times.at(-1) })}\n`)
          }
        })
      },
    )
    call.once('error', reject)
    call.end()
  })

for (let opened = 0; opened < readerCount; opened += 100)
  await Promise.all(
    Array.from({ length: Math.min(100, readerCount - opened) }, (_, at) =>
      listen(credentials[(opened + at) % credentials.length] ?? ''),
    ),
  )
process.stdout.write(`${open}\n`)
