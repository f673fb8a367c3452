import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const Package = z.object({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
})
const { scripts, dependencies, devDependencies, optionalDependencies } = Package.parse(JSON.parse(read('package.json')))
const readme = read('README.md')
const [, service = '', development = ''] = /\| For the service +\|([\s\S]*)\| For development +\|([\s\S]*)/.exec(readme) ?? []
const namesIn = (table: string) => [...table.matchAll(/`([@a-z][^`]*)`/g)].map((match) => match[1]).sort()

describe('README.md', () => {
  it('says what every dependency is for, and lists no other', () => {
    expect(namesIn(service).filter((name) => name !== '/docs')).toEqual(Object.keys(dependencies).sort())
    expect(namesIn(development)).toEqual(Object.keys({ ...devDependencies, ...optionalDependencies }).sort())
  })

  it('names every command, and no other', () => {
    const implied = (name: string) => name.startsWith('pre') || name === 'postinstall' || name.startsWith('check:')
    const named = new Set([...readme.matchAll(/(?:`|&& |^)npm (?:run )?([a-z:]+)/gm)].map((match) => match[1] ?? ''))
    for (const name of Object.keys(scripts).filter((script) => !implied(script))) expect(named).toContain(name)
    for (const name of named) if (!['ci', 'install'].includes(name)) expect(scripts).toHaveProperty([name])
  })

  it('has no dead links', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '')
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) expect(existsSync(new URL(`../../${link}`, import.meta.url)), link).toBe(true)
  })
})
