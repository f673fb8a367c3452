import { repeatedName } from '../src/lib/repeated-name.ts'
import { checkJws } from './checks/signature.ts'
import { bad, type Finding, judged, ok, unchecked } from './finding.ts'
import { holds, type VerifyOptions, verifyReceipt } from './verify.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Entry = { method: number; packed: Bytes; size: number }

/** Parses JSON without repeated keys: a reader might see the value that was not checked. Throws a sentence. */
export const readJson = (text: string, what: string): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TypeError(`${what} is not JSON`)
  }
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw new TypeError(`${what} gives "${repeated.slice(0, 40)}" more than once`)
  return value
}

export const isArchive = (bytes: Uint8Array): boolean => [0x50, 0x4b, 0x03, 0x04].every((byte, index) => bytes[index] === byte)

const broken = () => new TypeError('The archive is not a whole ZIP file')

/** Reads the files in the central directory. Throws a sentence for the user. */
export const entriesOf = (bytes: Bytes): Map<string, Entry> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length - 22
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw broken()
  const entries = new Map<string, Entry>()
  let offset = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (view.getUint32(offset, true) !== 0x02014b50) throw broken()
    const [packed, size] = [view.getUint32(offset + 20, true), view.getUint32(offset + 24, true)]
    const [nameLength, extra, comment] = [28, 30, 32].map((place) => view.getUint16(offset + place, true)) as [
      number,
      number,
      number,
    ]
    const name = new TextDecoder().decode(bytes.subarray(offset + 46, offset + 46 + nameLength))
    if (entries.has(name)) throw new TypeError(`The archive has "${name.slice(0, 100)}" twice`)
    const local = view.getUint32(offset + 42, true)
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    entries.set(name, { method: view.getUint16(offset + 10, true), packed: bytes.subarray(start, start + packed), size })
    offset += 46 + nameLength + extra + comment
  }
  return entries
}

/** Inflates at most the size in the directory, because a small archive could otherwise fill the memory. */
export const contentOf = async ({ method, packed, size }: Entry): Promise<Bytes> => {
  if (method === 0) return packed
  const content = new Uint8Array(size)
  let length = 0
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    if (length + value.length > size) throw broken()
    content.set(value, length)
    length += value.length
  }
  if (length !== size) throw broken()
  return content
}

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

type ManifestFile = { name: string; bytes: number; sha256: string }
type Manifest = {
  type: 'evidence'
  version: 1
  issuer: string
  issued_at: string
  workspace: { id: string; name: string }
  period: { from: string; to: string }
  files: ManifestFile[]
  jws: string
}

const isManifest = (value: unknown): value is Manifest =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  value.type === 'evidence' &&
  'version' in value &&
  value.version === 1

const utf8 = (bytes: Bytes): string => new TextDecoder().decode(bytes)

const checkReceipts = async (name: string, text: string, workspaceId: string, options: VerifyOptions): Promise<Finding[]> => {
  const findings: Finding[] = []
  const lines = text.split('\n').filter((line) => line !== '')
  let open = 0
  for (const [index, line] of lines.entries()) {
    const receipt = readJson(line, `line ${index + 1} of ${name}`) as { payment?: { id?: unknown; workspace_id?: unknown } }
    const found = await verifyReceipt(receipt, options)
    const isOurs = receipt.payment?.workspace_id === workspaceId
    open += found.filter(({ result }) => result === 'unchecked').length
    for (const { check, says } of found.filter(({ result }) => result === 'bad'))
      findings.push(bad(`receipt ${String(receipt.payment?.id)}`, `${check}: ${says}`))
    if (!isOurs) findings.push(bad(`receipt ${String(receipt.payment?.id)}`, 'it is of another workspace'))
  }
  if (holds(findings))
    findings.push(ok(name, `${lines.length} ${lines.length === 1 ? 'receipt is valid' : 'receipts are valid'}`))
  if (open > 0)
    findings.push(unchecked(name, `${open} checks of its receipts could not be made here: check those receipts one by one`))
  return findings
}

type Sums = Partial<Record<'opening_balance_minor' | 'closing_balance_minor' | 'in_minor' | 'out_minor', string | null>>

const checkStatement = (text: string): Finding => {
  const sums = readJson(text, 'statement.json') as Sums
  const { opening_balance_minor: opening, closing_balance_minor: closing, in_minor: came, out_minor: went } = sums
  if (opening == null || closing == null || came == null || went == null)
    return unchecked('statement', 'it has no balances, or its sums were not counted yet')
  const good = BigInt(opening) + BigInt(came) - BigInt(went) === BigInt(closing)
  return judged(
    'statement',
    good,
    `from ${opening} to ${closing} minor units`,
    'opening, sums and closing balance contradict each other',
  )
}

/**
 * All checks of an evidence archive: its manifest's signature, each file's digest, and each receipt. If the manifest's signature
 * is not valid, nothing else is read.
 */
export const verifyArchive = async (bytes: Bytes, options: VerifyOptions): Promise<Finding[]> => {
  const entries = entriesOf(bytes)
  const listed = entries.get('manifest.json')
  const manifest = listed && readJson(utf8(await contentOf(listed)), 'manifest.json')
  if (!isManifest(manifest)) return [bad('manifest', 'this is not an archive of evidence of version 1')]
  const { jws, ...document } = manifest
  const signed = { jws, document, type: 'evidence-manifest', at: manifest.issued_at }
  const signature = await checkJws('manifest', signed, options.keys)
  const { issuer, workspace, period } = manifest
  const says = `of ${workspace?.name} from ${period?.from} to ${period?.to}, issued by ${issuer}`
  const asked =
    options.issuer === undefined
      ? unchecked('issuer', `it says ${says}; whether these keys are theirs was not asked`)
      : judged('issuer', issuer === options.issuer, says, `it says ${issuer}, and the keys are of ${options.issuer}`)
  if (signature.result !== 'ok') return [signature, asked]
  const findings = [signature, asked]
  const names = new Set(['manifest.json', ...manifest.files.map(({ name }) => name)])
  const extra = [...entries.keys()].filter((name) => !names.has(name))
  if (extra.length > 0) findings.push(bad('files', `${extra.slice(0, 5).join(', ')}: not in the manifest`))
  for (const { name, bytes: length, sha256 } of manifest.files) {
    const entry = entries.get(name)
    const content = entry && (await contentOf(entry))
    if (!content) findings.push(bad(name, 'it is not in the archive'))
    else if (content.length !== length || hex(await crypto.subtle.digest('SHA-256', content)) !== sha256)
      findings.push(bad(name, 'it is not the file that was signed'))
    else if (name.startsWith('receipts')) findings.push(...(await checkReceipts(name, utf8(content), workspace.id, options)))
    else findings.push(name === 'statement.json' ? checkStatement(utf8(content)) : ok(name, 'as it was signed'))
  }
  return findings
}
