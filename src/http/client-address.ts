import type { App } from './app-type.ts'

const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/
const inBrackets = /^\[([0-9a-f:.]+)(?:%[^\]]*)?\](?::\d{1,5})?$/i

/** Some proxies (Azure, IIS) add a port: `203.0.113.7:51234`, `[2001:db8::1]:443` and `"[2001:db8::1]"`. */
export const bareAddress = (written: string): string => {
  const text = written.trim().replace(/^"(.*)"$/, '$1')
  return inBrackets.exec(text)?.[1] ?? withPort.exec(text)?.[1] ?? text
}

/**
 * The only function that reads forwarded addresses. Limits, allow lists, callbacks, sessions and the audit log use `request.ip`,
 * which has no port. With a port, each connection would look like a new client, and no allow list would match it.
 */
export const readForwardedAddresses = (app: Pick<App, 'addHook'>): void => {
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const forwarded = headers['x-forwarded-for']
    if (forwarded !== undefined) headers['x-forwarded-for'] = [forwarded].flat().join().split(',').map(bareAddress).join(', ')
    done()
  })
}
