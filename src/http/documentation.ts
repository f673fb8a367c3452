import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import { acceptsBrotli } from './accept.ts'
import type { App } from './app-type.ts'
import { keptByKey, readBuilt, registerDownloads } from './downloads.ts'
import { wantsPage } from './page.ts'

export type Served = { file: string; type: string; headers: Record<string, string> }
/** The files that `npm run build` rendered for each path: for browsers (`page`) and for all other clients (`text`). */
export type Manifest = Readonly<Record<string, { page?: Served; text?: Served }>>

const built = fileURLToPath(new URL('../../docs/dist/', import.meta.url))
const missing = 'The documentation is not built'
/** The URL in rendered files, to be replaced by the service's own. */
const buildUrl = 'http://localhost:3000'

/** Also replaces bare host names, for example in a sample wallet message. */
const atAddress = (text: string, publicUrl: string): string =>
  text.replaceAll(buildUrl, publicUrl).replaceAll(new URL(buildUrl).host, new URL(publicUrl).host)

const compress = promisify(brotliCompress)
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const sendRendered = (publicUrl: string, withVersions: (text: string) => Promise<string>) => {
  let manifest: Manifest | undefined
  // Made at its first request, because the build does not know the service's URL.
  const contentOf = keptByKey(async (file: string): Promise<string | Buffer> => {
    const content = await readBuilt(built + file, missing)
    const isOurs = !file.endsWith('scalar.js')
    return isOurs ? atAddress(await withVersions(content.toString()), publicUrl) : content
  })
  const compressedOf = keptByKey(async (file: string) => compress(await contentOf(file), quality))
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    manifest ??= JSON.parse((await readBuilt(`${built}manifest.json`, missing)).toString()) as Manifest
    const path = request.url.replace(/\/?(\?.*)?$/, '')
    const { page, text } = Object.hasOwn(manifest, path) ? (manifest[path] ?? {}) : {}
    const served = wantsPage(request) ? (page ?? text) : (text ?? page)
    if (!served)
      throw new Refusal('not_found', { message: `There is no such page: ${publicUrl}/docs/guides and /docs/errors list them.` })
    const vary = [reply.getHeader('vary'), 'Accept, Accept-Encoding'].flat().filter(Boolean).join(', ')
    reply.headers({ ...served.headers, vary }).type(served.type)
    return acceptsBrotli(request)
      ? reply.header('content-encoding', 'br').send(await compressedOf(served.file))
      : reply.send(await contentOf(served.file))
  }
}

export const registerDocumentation = (app: App): void => {
  const open = { config: { internal: true }, schema: { hide: true } }
  const send = sendRendered(app.publicUrl, registerDownloads(app))
  for (const path of ['/openapi.json', '/llms.txt', '/llms-full.txt', '/skill.md', '/docs', '/docs/*']) app.get(path, open, send)
}
