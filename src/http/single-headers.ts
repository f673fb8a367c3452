import { invalidFields } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { atOnce } from './at-once.ts'

/** Headers that have one value, as they are named to a caller. Node joins what is sent twice with a comma, or keeps the first. */
const names = ['Authorization', 'Idempotency-Key', 'Last-Event-ID', 'Workspace-Id'] as const
const named: ReadonlyMap<string, string> = new Map(names.map((name) => [name.toLowerCase(), name]))

/**
 * Such a header sent twice is one if its values are equal: "a, a" would be another key than the "a" of the repeated request, and the payment would be
 * made twice. With different values nobody knows which one was meant.
 */
export const registerSingleHeaders = (app: App): void => {
  app.addHook(
    'onRequest',
    atOnce(({ raw: { rawHeaders, headers } }) => {
      const seen = new Map<string, string>()
      for (let at = 0; at < rawHeaders.length; at += 2) {
        const name = rawHeaders[at]?.toLowerCase() ?? ''
        const title = named.get(name)
        if (title === undefined) continue
        const value = rawHeaders[at + 1] ?? ''
        const before = seen.get(name)
        if (before !== undefined && before !== value)
          throw invalidFields({ path: title, message: 'is sent more than once, with different values: send one' })
        if (before !== undefined) headers[name] = value
        seen.set(name, value)
      }
    }),
  )
}
