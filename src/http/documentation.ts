import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { registerDocs } from './docs.ts'
import { type ForeignCode, registerErrorDocs } from './error-docs.ts'
import { registerGuides } from './guides.ts'
import { registerVerifyPage } from './verify-page.ts'

const fileOf = (path: string) => fileURLToPath(new URL(`../../client/${path}`, import.meta.url))

const downloads = [
  /** The typed client as npm packs it: `npm install http://localhost:3000/client.tgz` in any folder. */
  { url: '/client.tgz', file: fileOf('pack/client.tgz'), type: 'application/gzip' },
  { url: '/verify-receipt.mjs', file: fileOf('pack/verify-receipt.mjs'), type: 'text/javascript; charset=utf-8' },
  { url: '/payments.py', file: fileOf('python/payments.py'), type: 'text/x-python; charset=utf-8' },
] as const

/** The clients that people install or copy from a running service. */
const registerClientPackage = (app: App): void => {
  for (const { url, file, type } of downloads)
    app.get(url, { config: { internal: true }, schema: { hide: true } }, async (_request, reply) => {
      const content = await readFile(file).catch((cause: unknown) => {
        throw new Refusal('unavailable', { message: 'The client is not packed: npm run build:client.', cause })
      })
      return reply.header('cache-control', 'no-cache').type(type).send(content)
    })
}

type Described = { publicUrl: string; providers: readonly string[]; foreignCodes: readonly ForeignCode[] }

/** What integrators read and install, and where strangers check receipts: no part of the API. */
export const registerDocumentation = async (app: App, { foreignCodes, ...service }: Described): Promise<void> => {
  registerErrorDocs(app, foreignCodes)
  registerGuides(app, service)
  await registerDocs(app)
  registerClientPackage(app)
  registerVerifyPage(app)
}
