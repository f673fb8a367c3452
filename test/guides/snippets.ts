import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const guidesFolder = fileURLToPath(new URL('../../docs/guides', import.meta.url))
export const written = 'http://localhost:3000'

export const languages = ['sh', 'ts', 'js', 'python'] as const
export type Language = (typeof languages)[number]

/** All of a guide's code blocks of one language, in order, as one program; and its expected output. */
export type Snippet = { guide: string; language: Language; code: string; printed: string[] }
type Block = { guide: string; language: string; text: string }

const blocksIn = (guide: string, file: string): Block[] =>
  [...readFileSync(file, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    guide,
    language,
    text,
  }))

const isLanguage = (text: string): text is Language => languages.some((known) => known === text)

const snippetsIn = (guide: string): Snippet[] => {
  const byLanguage = new Map<Language, Snippet>()
  let last: Snippet | undefined
  for (const { language, text } of blocksIn(guide, `${guidesFolder}/${guide}.md`)) {
    if (isLanguage(language)) {
      last = byLanguage.get(language) ?? { guide, language, code: '', printed: [] }
      last.code += `${text}\n`
      byLanguage.set(language, last)
    } else {
      // The text between a program and the next one is its output.
      if (language === 'text') last?.printed.push(...text.trimEnd().split('\n'))
      last = undefined
    }
  }
  return [...byLanguage.values()]
}

export const guides = readdirSync(guidesFolder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace(/\.md$/, ''))
  .sort()

const readme = fileURLToPath(new URL('../../README.md', import.meta.url))
/** The README's other programs start the service. The first payment's output is in its last line. */
const firstPayment: Snippet[] = blocksIn('README', readme)
  .filter(({ language }) => language === 'js')
  .map(({ guide, text }) => ({
    guide,
    language: 'js',
    code: text,
    printed: [/\/\/ (.*)$/m.exec(text)?.[1] ?? 'nothing is promised'],
  }))

export const snippets: readonly Snippet[] = [...firstPayment, ...guides.flatMap(snippetsIn)]

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
/** The lines in order, with anything between them. "…" stands for values that differ each time. */
export const patternOf = (lines: readonly string[]): RegExp =>
  new RegExp(lines.map((line) => line.split('…').map(literal).join('.*')).join('[\\s\\S]*'))
