import { createServer, connect as dial, type Socket } from 'node:net'

/** A message of the frontend: its type letter and, for Query and Parse, the statement's text. */
export type Message = { number: number; type: string; text: string }
/** `cut`: resets all connections before this message. `forward_then_cut`: resets them at its answer. `mute`: see `mute()`. */
export type Fate = 'forward' | 'cut' | 'forward_then_cut' | 'mute'

export type PostgresProxy = {
  url: string
  /** Counts messages of all connections from now on, and asks for the fate of each. */
  arm: (decide: (message: Message) => Fate) => void
  disarm: () => number
  /** Passes nothing any more in either direction, and closes no connection. */
  mute: () => void
  /** Cuts every connection and lets new ones through. */
  heal: () => void
  cutAll: () => void
  close: () => Promise<void>
}

const textOf = (type: string, body: Buffer): string => {
  if (type === 'Q') return body.toString('utf8', 0, body.length - 1)
  if (type !== 'P') return ''
  const afterName = body.indexOf(0) + 1
  return body.toString('utf8', afterName, body.indexOf(0, afterName))
}

/**
 * Stands between a service and PostgreSQL, splits the service's bytes into protocol messages, and counts them. A connection's
 * first message (start-up, SSL request) has no type and is passed on.
 */
export const startPostgresProxy = async (databaseUrl: string): Promise<PostgresProxy> => {
  const target = new URL(databaseUrl)
  const pairs = new Set<{ client: Socket; server: Socket }>()
  let decide: ((message: Message) => Fate) | undefined
  let count = 0
  let muted = false

  const destroy = (pair: { client: Socket; server: Socket }) => {
    pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.resetAndDestroy()
  }
  const cutAll = () => {
    for (const pair of [...pairs]) destroy(pair)
  }

  // Without delay: each message of a statement is written separately, and would wait for the previous one's confirmation.
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = dial({ host: target.hostname, port: Number(target.port), noDelay: true })
    const pair = { client, server: upstream }
    pairs.add(pair)
    let pending = Buffer.alloc(0)
    let started = false
    let answersAreLost = false
    const end = () => destroy(pair)
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    upstream.on('data', (bytes) => {
      if (muted) return
      if (!answersAreLost) client.write(bytes)
      // The server has answered: the request took effect, but the answer does not arrive.
      else cutAll()
    })
    client.on('data', (bytes) => {
      if (muted) return
      pending = Buffer.concat([pending, bytes])
      for (;;) {
        const header = started ? 5 : 4
        if (pending.length < header) return
        const length = pending.readUInt32BE(header - 4) + header - 4
        if (pending.length < length) return
        const whole = pending.subarray(0, length)
        pending = pending.subarray(length)
        if (!started) {
          // An SSL request is followed by the real start-up message.
          started = whole.readUInt32BE(4) !== 80_877_103
          upstream.write(whole)
          continue
        }
        if (!decide) {
          upstream.write(whole)
          continue
        }
        count += 1
        const type = String.fromCharCode(whole[0] ?? 0)
        const fate = decide({ number: count, type, text: textOf(type, whole.subarray(5)) })
        if (fate === 'cut') return cutAll()
        if (fate === 'mute') {
          muted = true
          return
        }
        if (fate === 'forward_then_cut') answersAreLost = true
        upstream.write(whole)
      }
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`

  return {
    url: url.href,
    arm: (options) => {
      count = 0
      decide = options
    },
    disarm: () => {
      decide = undefined
      return count
    },
    mute: () => {
      muted = true
    },
    heal: () => {
      muted = false
      decide = undefined
      cutAll()
    },
    cutAll,
    close: async () => {
      cutAll()
      await new Promise((closed) => server.close(closed))
    },
  }
}
