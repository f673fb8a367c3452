import { tFile } from './file-texts.ts'
export type Problem = { problem: string }

export const ofFile = (problem: string): Problem => ({ problem: tFile('this_file', { problem }) })

const noReader: Problem = { problem: tFile('file_unreachable') }

/** Loads the file reader with the first file, because it adds a tenth to a page's size. */
export const loadFileReader = () => import('../../../src/lib/table-file.ts').catch(() => noReader)

/** Text of a file from any program. `charset`: the encoding that the person chose. */
export const readTextFile = async (file: Blob, charset?: string): Promise<string | Problem> => {
  const reader = await loadFileReader()
  if ('problem' in reader) return reader
  const text = reader.textOfFile(new Uint8Array(await file.arrayBuffer()), charset)
  return typeof text === 'string' ? text : ofFile(text.problem)
}

const charsets = [
  ['windows-1252', tFile('excel.windows')],
  ['macintosh', tFile('excel.mac')],
  ['windows-1250', tFile('excel.europe')],
] as const
/** The only choice for UTF-16 text, which any other encoding would garble. */
const unicodeText = ['utf-16le', tFile('unicode')] as const

export type Encoding = { charset: string; label: string; sample: string }

/**
 * Possible encodings of a file, each with a line whose letters differ, so that a person can see which is right. Empty if the
 * encoding is not the problem.
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
