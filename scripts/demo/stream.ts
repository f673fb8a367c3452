export type StreamedEvent = { id: string; type: string; data: Record<string, unknown> }

export type Stream = {
  /** The first event of this type, about this resource where one is named, waited for; throws when it does not come in time. */
  waitFor: (type: string, resourceId?: string) => Promise<StreamedEvent>
  /** All that came so far, in the order in which it came. */
  told: () => readonly StreamedEvent[]
  close: () => void
}

const patienceMs = 20_000

/** One event of a text/event-stream; undefined for comments and for what only sets the retry time. */
const parseEvent = (block: string): StreamedEvent | undefined => {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart())
      .join('\n')
  const data = field('data')
  return data === '' ? undefined : { id: field('id'), type: field('event'), data: JSON.parse(data).data }
}

/** Reads the notification stream until it is closed. What comes before anybody waits for it is kept. */
export const openStream = async (url: string, headers: Record<string, string>): Promise<Stream> => {
  const abort = new AbortController()
  const response = await fetch(`${url}/v1/notifications/stream`, { headers, signal: abort.signal })
  const { body } = response
  if (response.status !== 200 || !body) throw new Error(`the stream answered ${response.status}`)
  const told: StreamedEvent[] = []
  const watchers = new Set<() => void>()

  const read = async () => {
    let rest = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      told.push(...blocks.flatMap((block) => parseEvent(block) ?? []))
      for (const watcher of watchers) watcher()
    }
  }
  // Ends with an error when we close it, or when the server goes: then whoever waits runs out of patience.
  const ended = read().catch(() => undefined)

  const find = (type: string, resourceId?: string) =>
    told.find((event) => event.type === type && (resourceId === undefined || event.data.id === resourceId))

  return {
    told: () => told,
    close: () => {
      abort.abort()
      void ended
    },
    waitFor: (type, resourceId) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const event = find(type, resourceId)
          if (!event) return
          done()
          resolve(event)
        }
        const timer = setTimeout(() => {
          done()
          const heard = told.map((event) => event.type).join(', ')
          reject(new Error(`the stream did not tell "${type}" within ${patienceMs / 1000} s; it told: ${heard || 'nothing'}`))
        }, patienceMs)
        const done = () => {
          clearTimeout(timer)
          watchers.delete(look)
        }
        watchers.add(look)
        look()
      }),
  }
}
