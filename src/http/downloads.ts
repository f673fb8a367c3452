import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { sha256Hex } from '../auth/secrets.ts'
import { Refusal } from '../lib/errors.ts'
import { version } from '../lib/version.ts'
import type { App } from './app-type.ts'

/** For files whose name changes with their content. */
export const immutable = 'public, max-age=31536000, immutable'

export const readBuilt = (path: string, missing: string): Promise<Buffer> =>
  readFile(path).catch((cause: unknown) => {
    throw new Refusal('unavailable', { message: `${missing}: npm run build.`, cause })
  })

/** Calls `make` once for each key, unless it fails. */
export const keptByKey = <Key, Value>(make: (key: Key) => Promise<Value>): ((key: Key) => Promise<Value>) => {
  const known = new Map<Key, Promise<Value>>()
  return (key) => {
    const value = known.get(key) ?? make(key)
    known.set(key, value)
    return value.catch((error: unknown) => {
      known.delete(key)
      throw error
    })
  }
}

const fileOf = (path: string) => fileURLToPath(new URL(`../../client/${path}`, import.meta.url))

/** The packed typed client (`npm install http://localhost:3000/client.tgz`), the Python client, and the receipt verifier. */
const downloads = [
  { name: 'client', extension: '.tgz', file: fileOf('pack/client.tgz'), type: 'application/gzip' },
  { name: 'payments', extension: '.py', file: fileOf('python/payments.py'), type: 'text/x-python; charset=utf-8' },
  {
    name: 'verify-receipt',
    extension: '.mjs',
    file: fileOf('pack/verify-receipt.mjs'),
    type: 'text/javascript; charset=utf-8',
  },
] as const
type Download = (typeof downloads)[number]

const missing = 'The client is not packed'
/** The SHA-256 of each released file. */
const hashesOf = (folder: string): Record<string, string> => JSON.parse(readFileSync(`${folder}/hashes.json`, 'utf8'))

/** Another version of the compression library may produce different gzip bytes for the same content. */
const contentOf = ({ extension }: Download, bytes: Buffer): Buffer => (extension === '.tgz' ? gunzipSync(bytes) : bytes)

/**
 * The URL of a released file is in integrators' lock files, so its bytes never change. A newer build gets a separate URL, derived
 * from its content. `current` is read once, because the build does not change while the process runs.
 */
const filesOf = (download: Download, folder: string) => {
  const { name, extension, file } = download
  const hashes = hashesOf(folder)
  const isReleased = (fileName: string) => Object.hasOwn(hashes, fileName)
  const read = (fileName: string) => readFile(`${folder}/${fileName}`)
  const findCurrent = keptByKey(async (newest: string) => {
    const bytes = await readBuilt(file, missing)
    if (!isReleased(newest)) return { fileName: newest, bytes }
    const released = await read(newest)
    if (contentOf(download, released).equals(contentOf(download, bytes))) return { fileName: newest, bytes: released }
    return { fileName: `${name}-${version}-${sha256Hex(bytes).slice(0, 12)}${extension}`, bytes }
  })
  return { current: () => findCurrent(`${name}-${version}${extension}`), isReleased, read }
}

const pathOf = ({ name, extension }: Download): string => `/${name}${extension}`

/** Returns a function that inserts the URL of the newest client into a document, so that readers' lock files pin it. */
export const registerDownloads = (app: App, folder = fileOf('releases')): ((text: string) => Promise<string>) => {
  const open = { config: { internal: true }, schema: { hide: true } }
  let newestClient = async () => pathOf(downloads[0])
  for (const download of downloads) {
    const { name, type } = download
    const { current, isReleased, read } = filesOf(download, folder)
    if (name === 'client') newestClient = async () => `/${(await current()).fileName}`
    // The redirect also has the content, because `curl -O` does not follow redirects.
    app.get(pathOf(download), open, async (_request, reply) => {
      const { fileName, bytes } = await current()
      return reply
        .code(302)
        .headers({ location: `/${fileName}`, 'cache-control': 'no-cache' })
        .type(type)
        .send(bytes)
    })
    app.get<{ Params: { file: string } }>(`/${name}-:file`, open, async (request, reply) => {
      const fileName = `${name}-${request.params.file}`
      if (isReleased(fileName))
        return reply
          .header('cache-control', immutable)
          .type(type)
          .send(await read(fileName))
      const { fileName: built, bytes } = await current()
      if (fileName !== built)
        throw new Refusal('not_found', { message: `There is no such version. ${pathOf(download)} leads to the newest.` })
      return reply.header('cache-control', 'no-cache').type(type).send(bytes)
    })
  }
  const plain = pathOf(downloads[0])
  return async (text) => {
    if (!text.includes(plain)) return text
    // Documents are served even if the client has not been packed.
    const newest = await newestClient().catch(() => plain)
    return text.replaceAll(`:3000${plain}`, `:3000${newest}`)
  }
}
