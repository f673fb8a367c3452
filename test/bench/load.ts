import { Agent, request } from 'node:http'

export type Target = {
  url: URL
  method: 'GET' | 'POST'
  headers: (n: number) => Record<string, string>
  body: (n: number) => string | undefined
  expect: number
}

const once = (agent: Agent, target: Target, n: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const body = target.body(n)
    const headers = {
      ...target.headers(n),
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    }
    const call = request(target.url, { agent, method: target.method, headers }, (response) => {
      response.resume()
      response.once('end', () => {
        if (response.statusCode === target.expect) resolve()
        else reject(new Error(`${target.url.pathname} answered ${response.statusCode}, not ${target.expect}`))
      })
    })
    call.once('error', reject)
    call.end(body)
  })

/** Requests answered per second by a closed loop over so many connections. Any answer but the expected one ends the bench. */
export const throughput = async (target: Target, options: { connections: number; seconds: number }): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections })
  const began = process.hrtime.bigint()
  const until = began + BigInt(Math.round(options.seconds * 1e9))
  let done = 0
  const worker = async (): Promise<void> => {
    while (process.hrtime.bigint() < until) {
      done += 1
      await once(agent, target, done)
    }
  }
  await Promise.all(Array.from({ length: options.connections }, worker))
  agent.destroy()
  return done / (Number(process.hrtime.bigint() - began) / 1e9)
}
