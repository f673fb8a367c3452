import { holds, type VerifyOptions, verifyReceipt } from './verify.ts'

export { holds, verifyReceipt } from './verify.ts'

const usage = `Checks a payment's receipt.

  node verify-receipt.mjs RECEIPT.json --issuer https://payments.example   asks that service for its public keys
  node verify-receipt.mjs RECEIPT.json --jwks KEYS.json                    asks nobody: the keys are in the file

RECEIPT.json may be - for standard input. The exit status is 0 when every check holds, 1 when one fails, 2 when nothing could be checked.`

type Terminal = { say: (line: string) => void; read: (path: string) => Promise<string> }

const keysOf = (text: string): VerifyOptions['keys'] => {
  const set: unknown = JSON.parse(text)
  if (typeof set !== 'object' || set === null || !('keys' in set) || !Array.isArray(set.keys))
    throw new TypeError('the keys are not a JSON Web Key Set')
  return set.keys
}

const askFor = async (issuer: string): Promise<VerifyOptions> => {
  const answer = await fetch(`${issuer}/.well-known/jwks.json`)
  if (!answer.ok) throw new TypeError(`${issuer} answered ${answer.status}`)
  return { issuer, keys: keysOf(await answer.text()) }
}

const marks = { ok: 'ok   ', bad: 'BAD  ', unchecked: '?    ' } as const

/** The command line. Returns its exit status. */
export const run = async (args: readonly string[], { say, read }: Terminal): Promise<number> => {
  const named = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  const issuer = named('--issuer')?.replace(/\/$/, '')
  const jwks = named('--jwks')
  const [file] = args.filter((arg, at) => !arg.startsWith('--') && !args[at - 1]?.startsWith('--'))
  if (file === undefined || (issuer === undefined) === (jwks === undefined)) {
    say(usage)
    return 2
  }
  try {
    const receipt: unknown = JSON.parse(await read(file))
    const findings = await verifyReceipt(
      receipt,
      issuer === undefined ? { keys: keysOf(await read(jwks ?? '')) } : await askFor(issuer),
    )
    for (const { check, result, says } of findings) say(`${marks[result]}${check}: ${says}`)
    say(holds(findings) ? 'The receipt holds. What is marked ? was not checked.' : 'The receipt does NOT hold.')
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
  const read = async (path: string) => readFileSync(path === '-' ? 0 : path, 'utf8')
  process.exitCode = await run(process.argv.slice(2), { say: (line) => console.log(line), read })
}
