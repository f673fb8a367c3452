import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { variableNames } from '../../src/config.ts'
import { readCommand } from '../../src/operate/admin/commands.ts'
import { checks } from '../../src/operate/verify/verify.ts'
import { parseSource, readProgram, type Source } from './source.ts'
import { walk } from './syntax.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const Package = z.object({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
})
const { scripts, dependencies, devDependencies, optionalDependencies } = Package.parse(JSON.parse(read('package.json')))
const readme = read('README.md')
const [, service = '', development = ''] =
  /\| For the service +\|([\s\S]*)\| For development +\|([\s\S]*)/.exec(read('docs/dependencies.md')) ?? []
const namesIn = (table: string) => [...table.matchAll(/`([@a-z][^`]*)`/g)].map((match) => match[1]).sort()

it('docs/dependencies.md says what every dependency is for, and lists no other', () => {
  expect(namesIn(service).filter((name) => name !== '/docs')).toEqual(Object.keys(dependencies).sort())
  expect(namesIn(development)).toEqual(Object.keys({ ...devDependencies, ...optionalDependencies }).sort())
})

describe('README.md and CONTRIBUTING.md', () => {
  it('name every command, and no other', () => {
    const implied = (name: string) => name.startsWith('pre') || name === 'postinstall' || name.startsWith('check:')
    const named = new Set(
      [...`${readme}\n${read('CONTRIBUTING.md')}`.matchAll(/(?:`|&& |^)npm (?:run )?([a-z:]+)/gm)].map((match) => match[1] ?? ''),
    )
    for (const name of Object.keys(scripts).filter((script) => !implied(script))) expect(named).toContain(name)
    for (const name of named) if (!['ci', 'install'].includes(name)) expect(scripts).toHaveProperty([name])
  })
})

/** Paragraphs without tables, code and lists. */
const paragraphsOf = (text: string): string[] =>
  text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split(/\n{2,}/)
    .filter((block) => !/^(\||#|- |\d+\. )/.test(block.trim()))

it('README.md has lines that wrap, and no paragraph of more than five', () => {
  const long = paragraphsOf(readme).filter((block) => block.trim().split('\n').length > 5 || /.{151}/.test(block))
  expect(long).toEqual([])
  expect(paragraphsOf('a\nb\nc\nd\ne\nf').filter((block) => block.split('\n').length > 5)).toHaveLength(1)
})

const root = new URL('../../', import.meta.url)
const skipped = /^(node_modules|build|\.data|client\/(dist|pack)|docs\/dist|docs\/decisions)(\/|\.|$)|\/node_modules\//
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => !skipped.test(path))
const pages = files.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')

/** Links to files of the repository, from the page's own folder. */
const deadLinks = (page: string, text: string): string[] =>
  [...text.replace(/```[\s\S]*?```|`[^`\n]*`/g, '').matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .flatMap(([, link = '']) => (/^([a-z]+:|\/)/.test(link) ? [] : link))
    .filter((link) => !existsSync(new URL(link, new URL(page, root))))

/** Names of source files that do not exist. */
const deadNames = (text: string): string[] =>
  [...text.matchAll(/`([\w./-]+\.(?:ts|tsx|js))`/g)]
    .flatMap(([, name = '']) => name.replace(/^\.\//, ''))
    .filter((name) => !(name in dependencies) && !files.some((path) => path === name || path.endsWith(`/${name}`)))

/** Commands that no program knows: npm's, and `npm run admin`'s with their options. Placeholders match any value. */
const deadCommands = (text: string): string[] => {
  const npm = [...text.matchAll(/npm run ([a-z:]+)/g)].flatMap(([, name = '']) => (name in scripts ? [] : name))
  const admin = [...text.matchAll(/npm run admin -- ([a-z][a-z-]*(?: [a-z][a-z-]*)?)([^`\n]*)/g)].flatMap(
    ([, words = '', rest = '']) => {
      const options = [...rest.matchAll(/ (--[a-z-]+)/g)].flatMap(([, option = '']) => [option, 'x'])
      try {
        readCommand([...words.split(' '), ...options])
        return []
      } catch {
        return [`${words}${rest}`]
      }
    },
  )
  return [...npm, ...admin]
}

/** Foreign names: AP2's, PostgreSQL's, the tests', the client's. */
const foreign = /^(ON_DEMAND|PG|MPESA_)/
const ofPrograms = new Set(
  files
    .filter((path) => /^(test|client\/src)\/.*\.ts$/.test(path))
    .flatMap((path) =>
      [...read(path).matchAll(/process\.env\.([A-Z_]+)|\b(PAYMENTS_[A-Z_]+)\b(?=.*process\.env)/g)].flatMap(
        ([, one, other]) => one ?? other ?? [],
      ),
    ),
)
const ofProxies = new Set(
  files
    .filter((path) => /^deploy\/.*\.cfg$/.test(path))
    .flatMap((path) => [...read(path).matchAll(/\$\{(\w+)-/g)].map(([, name = '']) => name)),
)
const alerts = new Set(
  [...(read('deploy/rules.yml') + read('deploy/postgres-rules.yml')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name),
)
const deadSettings = (text: string): string[] =>
  [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]
    .flatMap(([, name = '']) => name)
    .filter(
      (name) =>
        !foreign.test(name) &&
        !ofPrograms.has(name) &&
        !ofProxies.has(name) &&
        !variableNames.includes(name.replace(/_FILE$/, '')),
    )
const deadAlerts = (text: string): string[] =>
  [...text.matchAll(/alert `([A-Z]\w+)`/g)].flatMap(([, name = '']) => (alerts.has(name) ? [] : name))

/** Names of metrics, codes, states, tables and log lines that no source has. PostgreSQL has its own names. */
const words = new Set(
  files.filter((path) => /^(src|deploy)\/.*\.(ts|yml|cfg|env)$/.test(path)).flatMap((path) => read(path).match(/\w+/g) ?? []),
)
const ofPostgres = /^(pg_|remote_write$|recovery_|restore_|backend_|catalog_xmin|hot_standby_feedback|autovacuum_)/
const deadWords = (text: string): string[] =>
  [...text.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`\n]+)`/g)]
    .flatMap(([, code = '']) => code.match(/\b[a-z]+(?:_[a-z0-9]+)+\b/g) ?? [])
    .filter((name) => !ofPostgres.test(name) && !words.has(name))

/** The first column of the glossary's last table, as whole words in singular and plural. */
const retired = (): RegExp => {
  const [, table = ''] = read('docs/glossary.md').split('## Retired words')
  const words = [...table.matchAll(/^\| ([a-z][^|]*?) \|/gm)].flatMap(([, cell = '']) => cell.split(', '))
  return new RegExp(`\\b(${words.map((word) => `${word}s?`).join('|')})\\b`, 'i')
}
/** Documents about the past, with its names. */
const ofThePast = ['docs/glossary.md', 'docs/guides/changelog.md']
const textFiles = files.filter((path) => /^texts\/.*\.json$/.test(path))

it('retired words stand in no document and no text', () => {
  expect('Two Time-outs, put aside').toMatch(retired())
  const found = [...pages, ...textFiles, '.env.example', 'deploy/systemd/settings.env']
    .filter((path) => !ofThePast.includes(path))
    .flatMap((path) => {
      const [word] = retired().exec(read(path).replace(/`[^`\n]*`/g, '')) ?? []
      return word === undefined ? [] : [`${path}: ${word}`]
    })
  expect(found).toEqual([])
})

it('retired words stand in no comment and no name of the code', () => {
  const pattern = retired()
  const wordsOf = (file: Source): string[] => {
    const words = parseSync(file.path, file.text).comments.map(({ value }) => value.replace(/`[^`\n]*`/g, ''))
    walk(file, (node) => void (node.type === 'Identifier' && words.push(node.name)))
    return words
  }
  const found = readProgram().flatMap((file) =>
    wordsOf(file)
      .flatMap((words) => pattern.exec(words)?.[0] ?? [])
      // In comments the verb, in code the name of a queue that metrics show.
      .filter((word) => word !== 'notices')
      .map((word) => `${file.path}: ${word}`),
  )
  const planted = wordsOf(parseSource('src/planted.ts', '/** A portion. */\nconst asker = 1'))
  expect(planted.filter((words) => pattern.test(words))).toHaveLength(2)
  expect(found).toEqual([])
})

/** The numbers in the first column of the invariants, without the ones that the page says `verify` cannot check. */
const numbersToVerify = (page: string): string[] => {
  const [table = ''] = page.split('## The invariants')[1]?.split('`npm run admin -- verify`') ?? []
  const [, exceptions = ''] = /against these invariants, except ([^:]*):/.exec(page) ?? []
  const numbers = [...table.matchAll(/^\| (I[\d, I]*) \|/gm)].flatMap(([, cell = '']) => cell.split(', '))
  return numbers.filter((number) => !exceptions.match(/I\d+/g)?.includes(number))
}

it('docs/reliability.md lists the invariants that verify checks, and names those that it cannot check', () => {
  const page = read('docs/reliability.md')
  const checked = new Set(checks.map(({ invariant }) => invariant))
  expect(new Set(numbersToVerify(page))).toEqual(checked)
  expect(numbersToVerify(page.replace('except I4,', 'except'))).toContain('I4')
})

it('every decision has its date, its context, what else was considered, and its consequences', () => {
  const decisions = readdirSync(new URL('docs/decisions/', root)).filter((name) => /^\d/.test(name))
  expect(decisions.length).toBeGreaterThan(20)
  const form =
    /^# .+\n\nStatus: [a-z ]+(?:by \d+)?, \d{4}-\d\d-\d\d\n[\s\S]*\n## Context\n[\s\S]*\n## Decision\n[\s\S]*\n## Alternatives\n\n\S[\s\S]*\n## Consequences\n/
  expect(decisions.filter((path) => !form.test(read(`docs/decisions/${path}`)))).toEqual([])
})

describe('every page', () => {
  it.each(pages)('%s has no dead links, and names files that exist', (page) => {
    expect([...deadLinks(page, read(page)), ...deadNames(read(page))]).toEqual([])
  })

  it.each(pages)('%s names commands, settings and alerts that exist', (page) => {
    const text = read(page)
    expect([...deadCommands(text), ...deadSettings(text), ...deadAlerts(text)]).toEqual([])
  })

  const operatorPage = /^docs\/(runbooks\/.*|administration|backup|failover|operations|upgrades)\.md$/
  const forOperators = pages.filter((path) => operatorPage.test(path))
  it.each(forOperators)('%s, for operators, names metrics, codes and columns that exist', (page) => {
    expect(deadWords(read(page))).toEqual([])
  })

  it('of docs/ has at most 200 lines, but for the tables that are generated', () => {
    const own = pages.filter((path) => path.startsWith('docs/') && !/^docs\/(authorization|codes)\.md$/.test(path))
    expect(own.filter((path) => read(path).trimEnd().split('\n').length > 200)).toEqual([])
  })

  it('which the check notices', () => {
    expect(pages.length).toBeGreaterThan(60)
    expect(deadLinks('docs/README.md', '[here](guides/quickstart.md) and [there](guides/nowhere.md)')).toEqual([
      'guides/nowhere.md',
    ])
    expect(deadCommands('`npm run admin -- payments unknown`, `npm run admin -- payments forget x`, `npm run nothing`')).toEqual([
      'nothing',
      'payments forget x',
    ])
    expect(deadSettings('`PUBLIC_URL`, `ORDER_KEY_FILE` and `NO_SETTING=1`')).toEqual(['NO_SETTING'])
    expect(deadWords('`rail_up` and `no_such_metric`')).toEqual(['no_such_metric'])
    expect(deadAlerts('the alert `BooksDiffer`, the alert `NoAlert`')).toEqual(['NoAlert'])
    expect(deadNames('`client.ts`, `db/client.ts` and `db/nothing.ts`')).toEqual(['db/nothing.ts'])
  })
})
