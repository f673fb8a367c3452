import { t } from './language.ts'
export type Problem = { problem: string }

export const ofFile = (problem: string): Problem => ({ problem: t('this_file', { problem }) })

const noReader: Problem = { problem: t('file_unreachable') }

/** A tenth of what a page weighs, so it is loaded with the first file. */
export const loadFileReader = () => import('../../../src/lib/table-file.ts').catch(() => noReader)

/** The text of a file, whatever program saved it. `charset`: the encoding that the person chose. */
export const readTextFile = async (file: Blob, charset?: string): Promise<string | Problem> => {
  const reader = await loadFileReader()
  if ('problem' in reader) return reader
  const text = reader.textOfFile(new Uint8Array(await file.arrayBuffer()), charset)
  return typeof text === 'string' ? text : ofFile(text.problem)
}

const charsets = [
  ['windows-1252', t('excel.windows')],
  ['macintosh', t('excel.mac')],
  ['windows-1250', t('excel.europe')],
] as const
/** Of text that any other reading would make nonsense of. */
const unicodeText = ['utf-16le', t('unicode')] as const

export type Encoding = { charset: string; label: string; sample: string }

/**
 * How a file can be read that does not say its encoding: each with a line whose letters differ from one to the next, so that a person sees which
 * is right. None where the encoding is not what is wrong with it.
 */
export const encodingsOf = async (file: Blob): Promise<Encoding[]> => {
  const found: Encoding[] = []
  if (typeof (await readTextFile(file)) === 'string') return found
  const isUnicodeText = new Uint8Array(await file.arrayBuffer()).includes(0)
  for (const [charset, label] of isUnicodeText ? [unicodeText] : charsets) {
    const text = await readTextFile(file, charset)
    const lines = typeof text === 'string' ? text.split(/[\r\n]+/) : []
    const sample = lines.find((line) => /[^\0-\x7f]/.test(line)) ?? lines[0]
    if (sample && found.every((other) => other.sample !== sample)) found.push({ charset, label, sample })
  }
  return found
}

export const saveFile = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
