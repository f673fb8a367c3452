import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { wantsPage } from './page.ts'
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
        throw new Refusal('unavailable', { message: 'The client is not packed: npm run build.', cause })
      })
      return reply.header('cache-control', 'no-cache').type(type).send(content)
    })
}

/** A rendered file, and what it is sent with. */
export type Served = { file: string; type: string; headers: Record<string, string> }
/** What `npm run build` rendered for each path: `page` for a browser, `text` for everything else. */
export type Manifest = Readonly<Record<string, { page?: Served; text?: Served }>>

const built = fileURLToPath(new URL('../../docs/dist/', import.meta.url))
/** The address in what was rendered, where the service's own belongs. */
const written = 'http://localhost:3000'

/** Also in texts that name the host alone, such as a wallet's message in an example. */
const atAddress = (text: string, publicUrl: string): string =>
  text.replaceAll(written, publicUrl).replaceAll(new URL(written).host, new URL(publicUrl).host)

const notBuilt = (cause: unknown) => {
  throw new Refusal('unavailable', { message: 'The documentation is not built: npm run build.', cause })
}

/** The API document and its reference, the guides, the error codes, and the index for language models. */
const registerRendered = (app: App, publicUrl: string): void => {
  let manifest: Manifest | undefined
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    manifest ??= JSON.parse(await readFile(`${built}manifest.json`, 'utf8').catch(notBuilt)) as Manifest
    const path = request.url.replace(/\/?(\?.*)?$/, '')
    const { page, text } = Object.hasOwn(manifest, path) ? (manifest[path] ?? {}) : {}
    const served = wantsPage(request) ? (page ?? text) : (text ?? page)
    if (!served)
      throw new Refusal('not_found', { message: `There is no such page: ${publicUrl}/docs/guides and /docs/errors list them.` })
    const content = await readFile(built + served.file).catch(notBuilt)
    const isOurs = !served.file.endsWith('scalar.js')
    return reply
      .headers(served.headers)
      .type(served.type)
      .send(isOurs ? atAddress(content.toString(), publicUrl) : content)
  }
  for (const path of ['/openapi.json', '/llms.txt', '/llms-full.txt', '/docs', '/docs/*'])
    app.get(path, { config: { internal: true }, schema: { hide: true } }, send)
}

/** What integrators read and install, and where strangers check receipts: no part of the API. */
export const registerDocumentation = (app: App, publicUrl: string): void => {
  registerRendered(app, publicUrl)
  registerClientPackage(app)
  registerVerifyPage(app)
}
