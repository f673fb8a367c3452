import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export type Received = { from: string; to: string[]; headers: string; subject: string; text: string; messageId: string }

const decoded = (body: string, encoding: string): string =>
  encoding === 'base64'
    ? Buffer.from(body, 'base64').toString('utf8')
    : encoding === 'quoted-printable'
      ? Buffer.from(
          body
            .replace(/=\r?\n/g, '')
            .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
          'latin1',
        ).toString('utf8')
      : body

const encodedWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?(B|Q)\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      decoded(
        kind.toUpperCase() === 'Q' ? word.replaceAll('_', ' ') : word,
        kind.toUpperCase() === 'Q' ? 'quoted-printable' : 'base64',
      ),
    )

const read = (raw: string): Pick<Received, 'headers' | 'subject' | 'text' | 'messageId'> => {
  const [head = ''] = raw.split('\r\n\r\n')
  const headers = head.replace(/\r\n[ \t]+/g, ' ')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1] ?? ''
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1] ?? ''
  const plain = raw.split(`--${boundary}`).find((part) => /content-type: text\/plain/i.test(part)) ?? ''
  const encoding = /content-transfer-encoding: (\S+)/i.exec(plain)?.[1] ?? '7bit'
  const text = decoded(plain.split('\r\n\r\n').slice(1).join('\r\n\r\n'), encoding).replaceAll('\r\n', '\n')
  return { headers, subject: encodedWords(header('Subject')), text, messageId: header('Message-ID') }
}

/** A mail server over TCP. `answers`: its answer to an address instead of accepting mail. */
export const startMailServer = async () => {
  const received: Received[] = []
  const answers = new Map<string, string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => {
      const answer = answers.get(address)
      if (answer === undefined) return done()
      return done(Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) }))
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        received.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          ...read(Buffer.concat(chunks).toString('utf8')),
        })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    answers,
    to: (address: string): Received[] => received.filter(({ to }) => to.includes(address)),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
