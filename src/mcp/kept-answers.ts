import { randomBytes } from 'node:crypto'

/** What differs from one answer to the next one that is asked for in the same way: the id, and what a tool said, as text and as an object. */
export type Place = 'id' | 'text' | 'structured'
/** Values that stand for them where the protocol's own code is asked for an answer to keep. They occur nowhere else. */
export type Markers = Readonly<{ id: string; text: string; structured: object }>

type Headers = Readonly<Record<string, string>>
export type KnownAnswer = { headers: Headers; body: string | Buffer }
/** `values`: the JSON of each place. */
export type Fill = (values: Partial<Record<Place, string>>) => KnownAnswer

type Part = { text: string; place?: Place }

const markersOf = (nonce: string): Markers => ({
  id: `${nonce}-id`,
  text: `${nonce}-text`,
  structured: { [`${nonce}-structured`]: true },
})

/** Undefined unless each place is in the text exactly once. */
const partsOf = (text: string, markers: Markers, places: readonly Place[]): Part[] | undefined => {
  const found = places.map((place) => {
    const marker = JSON.stringify(markers[place])
    const at = text.indexOf(marker)
    return { place, at, end: at + marker.length, again: text.indexOf(marker, at + 1) }
  })
  if (found.some(({ at, again }) => at === -1 || again !== -1)) return undefined
  found.sort((one, other) => one.at - other.at)
  const parts = found.map(({ place, at }, index): Part => ({ text: text.slice(found[index - 1]?.end ?? 0, at), place }))
  return [...parts, { text: text.slice(found.at(-1)?.end ?? 0) }]
}

/** A longer one is kept as bytes: to encode it for each answer costs as much as the rest of the request. */
const longText = 8_000

/** The server adds it to JSON that it is given as text, and not to bytes. */
const withCharset = (headers: Headers): Headers => {
  const type = headers['content-type']
  return type === 'application/json' ? { ...headers, 'content-type': `${type}; charset=utf-8` } : headers
}

const bytesOf = (headers: Headers, parts: readonly Part[]): Fill => {
  const encoded = parts.map(({ text, place }) => ({ bytes: Buffer.from(text), place }))
  const typed = withCharset(headers)
  return (values) => ({
    headers: typed,
    body: Buffer.concat(
      encoded.flatMap(({ bytes, place }) => (place === undefined ? [bytes] : [bytes, Buffer.from(values[place] ?? 'null')])),
    ),
  })
}

const textOf =
  (headers: Headers, parts: readonly Part[]): Fill =>
  (values) => {
    let body = ''
    for (const { text, place } of parts) body += place === undefined ? text : text + (values[place] ?? 'null')
    return { headers, body }
  }

const keep = async (places: readonly Place[], ask: (markers: Markers) => Promise<Response>): Promise<Fill | undefined> => {
  const markers = markersOf(randomBytes(16).toString('hex'))
  const response = await ask(markers)
  if (response.status !== 200) return undefined
  const text = await response.text()
  const parts = partsOf(text, markers, places)
  return parts && (text.length > longText ? bytesOf : textOf)(Object.fromEntries(response.headers), parts)
}

const longestWay = 2_000

/**
 * Answers of the protocol's own code, as text with gaps: it answers each way of asking once, and later requests get that text with their own
 * values in the gaps. For what depends on nothing but the way and these values. At most `most` ways are kept; of more, the oldest is
 * forgotten. `after`: how often a way is asked in before it is kept; a client may have a way of its own for each request.
 */
export const createKeptAnswers = ({ most, after }: { most: number; after: number }) => {
  const ways = new Map<string, { asked: number; fill?: Promise<Fill | undefined> }>()

  return async (
    way: string,
    places: readonly Place[],
    ask: (markers: Markers) => Promise<Response>,
  ): Promise<Fill | undefined> => {
    if (way.length > longestWay) return undefined
    const known = ways.get(way) ?? { asked: 0 }
    known.asked += 1
    ways.set(way, known)
    const [oldest] = ways.keys()
    if (ways.size > most && oldest !== undefined) ways.delete(oldest)
    if (known.asked <= after) return undefined
    known.fill ??= keep(places, ask)
    const fill = await known.fill.catch(() => undefined)
    if (fill === undefined) ways.delete(way)
    return fill
  }
}
