import { connect } from 'node:net'

export type RawAnswer = { status: number; headers: Record<string, string>; text: string }

/** One request byte for byte, for bytes that no well-behaved client sends. Asks the server to close. */
export const sendRaw = (url: string, head: string[], body: string | Buffer = ''): Promise<RawAnswer> => {
  const { hostname, port, host } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(`${[...head, `Host: ${host}`, 'Connection: close'].join('\r\n')}\r\n\r\n`)
      socket.write(body)
    })
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.once('error', reject)
    socket.once('close', () => resolve(parse(Buffer.concat(chunks).toString())))
  })
}

const parse = (answer: string): RawAnswer => {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2)).map(([name = '', value = '']) => [name.toLowerCase(), value]),
  )
  return { status: Number(first.split(' ')[1]), headers, text: rest.join('\r\n\r\n') }
}
