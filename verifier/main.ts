import { isArchive, readJson, verifyArchive } from './archive.ts'
import { createAskContract } from './chain.ts'
import { holds, type VerifyOptions, verifyReceipt } from './verify.ts'

export { isArchive, readJson, verifyArchive } from './archive.ts'
export { holds, verifyReceipt } from './verify.ts'

const usage = `Checks a payment's receipt, or an archive of evidence with all its receipts.

  node verify-receipt.mjs RECEIPT.json --issuer https://payments.example   asks that service for its public keys
  node verify-receipt.mjs RECEIPT.json --jwks KEYS.json                    makes no request: the keys are in the file

  --rpc 1=https://rpc.example,8453=https://…   asks these chains about signatures of contract wallets on them; without it none is asked

RECEIPT.json may be - for standard input, or an archive such as evidence-2026-01-01-2026-12-31.zip. Exit status: 0 if every check passes, 1 if one fails, 2 if nothing could be checked.`

/** Describes what is wrong with the arguments, in one sentence. Undefined if nothing is. */
const problemOf = (args: readonly string[], file: string | undefined): string | undefined => {
  const isNamed = (name: string) => args.includes(name)
  const empty = ['--issuer', '--jwks', '--rpc'].find(
    (name) => isNamed(name) && /^(--|$)/.test(args[args.indexOf(name) + 1] ?? ''),
  )
  if (empty !== undefined) return `${empty} has no value.`
  if (file === undefined) return 'No file of a receipt is named.'
  if (isNamed('--issuer') !== isNamed('--jwks')) return undefined
  return isNamed('--jwks') ? 'Name --issuer or --jwks, not both.' : 'Name whose keys are trusted, by --issuer or by --jwks.'
}

type Terminal = { say: (line: string) => void; read: (path: string) => Promise<Uint8Array<ArrayBuffer>> }

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const keysOf = (text: string, from: string): VerifyOptions['keys'] => {
  const set = readJson(text, from)
  if (typeof set !== 'object' || set === null || !('keys' in set) || !Array.isArray(set.keys))
    throw new TypeError(`${from} is not a JSON Web Key Set`)
  return set.keys
}

const askFor = async (issuer: string): Promise<VerifyOptions> => {
  const place = `${issuer}/.well-known/jwks.json`
  const answer = await fetch(place).catch(() => {
    throw new TypeError(`${place} cannot be reached`)
  })
  if (!answer.ok) throw new TypeError(`${place} answered ${answer.status}`)
  return { issuer, keys: keysOf(await answer.text(), place) }
}

/** Parses `1=https://…,8453=https://…`, the format of the service's `EVM_RPC_URLS`. */
const rpcUrlsOf = (text: string): Map<number, string> =>
  new Map(
    text.split(',').map((pair) => {
      const [, chain, url = ''] = /^([1-9]\d*)=(https?:.+)$/.exec(pair.trim()) ?? []
      if (chain === undefined) throw new TypeError(`--rpc takes CHAIN=URL, such as 1=https://rpc.example: not "${pair}"`)
      return [Number(chain), url]
    }),
  )

const marks = { ok: 'ok   ', bad: 'BAD  ', unchecked: '?    ' } as const

/** Runs the command line. Returns its exit status. */
export const run = async (args: readonly string[], { say, read }: Terminal): Promise<number> => {
  const named = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  const issuer = named('--issuer')?.replace(/\/$/, '')
  const jwks = named('--jwks')
  const rpc = named('--rpc')
  const [file] = args.filter((arg, index) => !arg.startsWith('--') && !args[index - 1]?.startsWith('--'))
  const problem = problemOf(args, file)
  if (problem !== undefined || file === undefined) {
    say(`${problem}\n\n${usage}`)
    return 2
  }
  try {
    const bytes = await read(file)
    const what = isArchive(bytes) ? 'evidence' : 'receipt'
    const ask = createAskContract(rpc === undefined ? new Map() : rpcUrlsOf(rpc))
    const trusted = jwks === undefined ? await askFor(issuer ?? '') : { keys: keysOf(utf8(await read(jwks)), jwks) }
    const options = { ...trusted, ask }
    const findings = await (what === 'evidence'
      ? verifyArchive(bytes, options)
      : verifyReceipt(readJson(utf8(bytes), file), options))
    for (const { check, result, says } of findings) say(`${marks[result]}${check}: ${says}`)
    const rest = findings.some(({ result }) => result === 'unchecked') ? ' Checks marked ? were skipped.' : ''
    say(holds(findings) ? `The ${what} is valid.${rest}` : `The ${what} is NOT valid.`)
    return holds(findings) ? 0 : 1
  } catch (error) {
    say(`Nothing was checked: ${error instanceof Error ? error.message : String(error)}`)
    return 2
  }
}

const isProgram = async (): Promise<boolean> => {
  if (typeof process === 'undefined' || !process.argv?.[1]) return false
  const [{ realpathSync }, { pathToFileURL }] = await Promise.all([import('node:fs'), import('node:url')])
  return import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href
}

if (await isProgram()) {
  const { readFileSync } = await import('node:fs')
  const read = async (path: string) => new Uint8Array(readFileSync(path === '-' ? 0 : path))
  process.exitCode = await run(process.argv.slice(2), { say: (line) => console.log(line), read })
}
