import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Words that stand for a noun that is not there yet: the reader has to read the sentence twice. */
const withoutNoun = /^(?:What|Who|Whom|Whose|Whoever|Whatever|Of|Those|As|So that)\b(?! of )/
const vague = /\b(?:whoever|whomever)\b/i

const sentencesOf = (text: string): string[] =>
  text
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?:]) (?=["“`*]*\p{Lu})/u)
    .map((sentence) => sentence.trim())

/** Headings and cells of a few words are labels. */
const isLabel = (text: string): boolean => text.length < 40 && !/[.:;,]/.test(text)

const complaints = (path: string, texts: readonly string[]): string[] =>
  texts
    .flatMap(sentencesOf)
    .filter((sentence) => (withoutNoun.test(sentence) && !isLabel(sentence)) || vague.test(sentence))
    .map((sentence) => `${path}: ${sentence.slice(0, 100)}`)

/** Line comments that follow each other are one text. */
const commentsIn = (path: string, code: string): string[] => {
  const { comments } = parseSync(path, code)
  const texts: string[] = []
  let lastEnd = -1
  for (const { type, value, start, end } of comments) {
    const text = value.replaceAll(/^\s*\*+/gm, '').trim()
    const continues = type === 'Line' && lastEnd !== -1 && /^\n\s*$/.test(code.slice(lastEnd, start))
    if (continues) texts.push(`${texts.pop()} ${text}`)
    else texts.push(text)
    lastEnd = type === 'Line' ? end : -1
  }
  return texts
}

/** Paragraphs, list items and cells, without code. Sections of released versions stay as they were released. */
const proseIn = (text: string): string[] =>
  text
    .replace(/^## \[\d[\s\S]*$/m, '')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, 'code')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )|\|/)
    .map((part) => part.replace(/^\s*(?:[-*#>]+|\d+\.)\s+/, '').replaceAll('**', ''))

const read = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .filter((path) => !/node_modules|(^|\/)dist\/|\.generated\.ts$/.test(path))
    .sort()
    .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const)

test('the sentences of comments name their subject first', () => {
  const files = read('{src,scripts,client/src,dashboard/src,test}/**/*.{ts,tsx}')
  expect(files.flatMap(([path, code]) => complaints(path, commentsIn(path, code)))).toEqual([])
})

test('the sentences of documents name their subject first', () => {
  const files = read('{*.md,docs/**/*.md,{src,dashboard,client,deploy,test}/**/*.md}')
  expect(files.flatMap(([path, text]) => complaints(path, proseIn(text)))).toEqual([])
})

test('the sentences of example settings name their subject first', () => {
  const files = read('{.env.example,deploy/systemd/settings.env}')
  expect(files).toHaveLength(2)
  const prose = (text: string) => proseIn(text.replaceAll(/^\w+=.*$/gm, '').replaceAll(/^# ?/gm, ''))
  expect(files.flatMap(([path, text]) => complaints(path, prose(text)))).toEqual([])
})

test.each([
  ['a comment', () => commentsIn('planted.ts', '/** What it was given. */\nexport const one = 1')],
  ['a later sentence', () => commentsIn('planted.ts', '// It is read once. Of those, one is kept.\nexport const one = 1')],
  [
    'a sentence on two lines',
    () => commentsIn('planted.ts', '// One is read.\n// Those that wait follow.\nexport const one = 1'),
  ],
  ['a vague word', () => commentsIn('planted.ts', '/** For whoever asks. */\nexport const one = 1')],
  ['a paragraph', () => proseIn('# Title\n\nWho asks twice gets one answer, the first of both.')],
  ['a list item', () => proseIn('- **As before.** It stays.')],
])('%s without a subject is found', (_what, texts) => {
  expect(complaints('planted', texts())).toHaveLength(1)
})
