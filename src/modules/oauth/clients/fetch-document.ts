import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { createSlots, NoSlotError } from '../../../lib/slots.ts'
import type { DocumentFetcher, DocumentLimits, FetchedDocument } from '../ports.ts'
import type { Address, ResolveHost } from './resolve-host.ts'

type FetchOptions = DocumentLimits & { timeoutMs: number; resolve: ResolveHost }

/** Why a document could not be read: a sentence that reveals nothing about what answers at an address. */
export class FetchError extends Error {}

/** Every address of the name must be allowed: a name with both a public and a private address is suspicious. */
const checkedAddresses = async (hostname: string, options: FetchOptions): Promise<Address[]> => {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(literal)
  const addresses = family === 0 ? await options.resolve(hostname) : [{ address: literal, family }]
  if (addresses.length === 0 || !addresses.every(({ address }) => options.allows(address)))
    throw new FetchError('could not be fetched')
  return addresses
}

const isJson = (type: string | undefined): boolean => /^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type ?? '')

/**
 * Reads a JSON document from an address that a stranger named. The name is resolved once, and the connection uses the addresses that were
 * checked. A redirect is not followed, and counts as a refusal. Size and time are limited.
 */
export const fetchDocument = async (url: URL, options: FetchOptions): Promise<FetchedDocument> => {
  const addresses = await checkedAddresses(url.hostname, options)
  const [first] = addresses
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      agent: false,
      headers: { accept: 'application/json', 'user-agent': 'payments-service' },
      signal: AbortSignal.timeout(options.timeoutMs),
      lookup: (_hostname, { all }, done) => (all ? done(null, addresses) : done(null, first?.address ?? '', first?.family)),
    })
    const fail = (why: string) => {
      reject(new FetchError(why))
      request.destroy()
    }
    request.on('error', () => fail('could not be fetched'))
    request.on('response', (response) => {
      if (response.statusCode !== 200) return fail('did not answer with 200; redirects are not followed')
      if (!isJson(response.headers['content-type'])) return fail('is not application/json')
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > options.maxBytes) return fail(`is larger than ${options.maxBytes} bytes`)
        chunks.push(chunk)
      })
      response.on('error', () => fail('could not be fetched'))
      response.on('end', () =>
        resolve({ text: Buffer.concat(chunks).toString('utf8'), cacheControl: response.headers['cache-control'] ?? '' }),
      )
    })
    request.end()
  })
}

/** A few at once, over all callers: an address that answers slowly, or not at all, occupies a slot no longer than the time-out. */
export const createDocumentFetcher = (options: Pick<FetchOptions, 'timeoutMs' | 'resolve'>): DocumentFetcher => {
  const slots = createSlots({ size: 16, waiting: 16 })
  return (url, limits) =>
    slots(() => fetchDocument(url, { ...options, ...limits })).catch((error: unknown) => {
      throw error instanceof NoSlotError
        ? new FetchError('cannot be fetched now: too many are under way', { cause: error })
        : error
    })
}
