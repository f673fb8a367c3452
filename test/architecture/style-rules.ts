import type { Rule } from './rules.ts'
import type { Source } from './source.ts'
import { textOf, walk } from './syntax.ts'

/** Without what is written between quotes: words there are for people. */
const withoutText = (code: string): string =>
  code
    .replace(/\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*(?=[.,;)\s])/g, 'REGEX')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/`(?:[^`\\]|\\.)*`/g, '``')

const complaintsAbout = (
  files: readonly Source[],
  pattern: RegExp,
  complaint: string,
  read: (file: Source) => string,
): string[] =>
  files.flatMap((file) => {
    const match = pattern.exec(read(file))
    return match ? [`${file.path} ${complaint}: ${match[0].trim()}`] : []
  })

const code =
  (pattern: RegExp, complaint: string): Rule['check'] =>
  (files) =>
    complaintsAbout(files, pattern, complaint, (file) => withoutText(file.code))
const text =
  (pattern: RegExp, complaint: string): Rule['check'] =>
  (files) =>
    complaintsAbout(files, pattern, complaint, (file) => file.text)

const maxLines = 350
/** The tables of errors are as long as their lists: a row more must not need another file. */
const isTable = (path: string): boolean => path.startsWith('errors/')

export const styleRules = {
  any: { name: 'nothing is any', check: code(/(?::|<|\bas|\||,|&)\s*any\b(?!\w)|\bany\[\]/, 'says any') },
  nonNull: {
    name: 'no value is asserted to be there',
    check: code(/[\w)\]]!(?=[.,;)\]\s[]|$)(?!\s*=)/m, 'asserts that something is not null'),
  },
  suppression: {
    name: 'the type checker is not silenced',
    check: text(/@ts-(ignore|nocheck|expect-error)/, 'silences the type checker'),
  },
  defaultExport: {
    name: 'what is exported has a name',
    check: code(/^export default\b|\bas default\b/m, 'exports without a name'),
  },
  unfinished: { name: 'nothing is left for later', check: text(/\b(TODO|FIXME|XXX|HACK)\b/, 'is not finished') },
  printing: {
    name: 'only commands print; everything else logs',
    check: (files) =>
      code(
        /\bconsole\.\w+/,
        'prints',
      )(files.filter(({ path }) => !['process', 'dev', 'operate', 'server.ts'].includes(path.split('/')[0] ?? ''))),
  },
  normalising: {
    name: 'a text is brought into a normal form after its length has been bounded',
    check: (files) =>
      files.flatMap((file) => {
        const found: string[] = []
        walk(file, (node) => {
          if (node.type !== 'MemberExpression' || textOf(file, node.property) !== 'normalize') return
          if (!/\.slice\(0,|\b(?:bounded|rawText)\(/.test(textOf(file, node.object)))
            found.push(`${file.path} normalises ${textOf(file, node.object).slice(0, 80)}`)
        })
        return found
      }),
  },
  length: {
    name: `a file has at most ${maxLines} lines`,
    check: (files) =>
      files
        .filter(({ path, text }) => !isTable(path) && text.split('\n').length > maxLines)
        .map(({ path }) => `${path} is too long`),
  },
  fileNames: {
    name: 'files are named in kebab-case, and none is a drawer for everything',
    check: (files) =>
      files
        .filter(
          ({ path }) =>
            !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(path) ||
            /(^|\/)(utils?|helpers?|common|misc|index)\.ts$/.test(path),
        )
        .map(({ path }) => `${path} has no good name`),
  },
} satisfies Record<string, Rule>
