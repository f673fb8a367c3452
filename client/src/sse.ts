/** One message of a text/event-stream. `id` is undefined if the message has none. */
export type SseMessage = { id: string | undefined; event: string; data: string }
export type SsePart = SseMessage | { retryMs: number } | { comment: true }

const fieldOf = (line: string): [name: string, value: string] => {
  const colon = line.indexOf(':')
  if (colon === -1) return [line, '']
  const value = line.slice(colon + 1)
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value]
}

/** Parses a stream as in the HTML standard: any line ending, multi-line data, incomplete messages dropped. */
export const createSseParser = (): ((chunk: string) => SsePart[]) => {
  let rest = ''
  let first = true
  let id: string | undefined
  let event = ''
  let data: string[] = []

  const dispatch = (): SsePart[] => {
    const message: SseMessage = { id, event: event === '' ? 'message' : event, data: data.join('\n') }
    const isMessage = data.length > 0
    id = undefined
    event = ''
    data = []
    return isMessage ? [message] : []
  }
  const take = (line: string): SsePart[] => {
    if (line === '') return dispatch()
    if (line.startsWith(':')) return [{ comment: true }]
    const [name, value] = fieldOf(line)
    if (name === 'data') data.push(value)
    else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d+$/.test(value)) return [{ retryMs: Number(value) }]
    return []
  }
  return (chunk) => {
    rest += first ? chunk.replace(/^\uFEFF/, '') : chunk
    first &&= chunk === ''
    // A trailing carriage return may be the first half of a line ending.
    const ends = rest.endsWith('\r') ? rest.length - 1 : rest.length
    const lines = rest.slice(0, ends).split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? '') + rest.slice(ends)
    return lines.flatMap(take)
  }
}
