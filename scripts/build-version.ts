import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ensure-built.ts'

/** Version of a build between two releases: the next version with the commit. `changes`: the changelog, unreleased part first. */
export const versionOf = (released: string, changes: string, commit: string): string => {
  const [, unreleased = ''] = /## \[Unreleased\]\n([\s\S]*?)(?=\n## |$)/.exec(changes) ?? []
  if (unreleased.trim() === '') return released
  const [major, minor] = released.split('.').map(Number)
  return `${major}.${(minor ?? 0) + 1}.0-dev.${commit}`
}

/** SOURCE_COMMIT names the commit in an image, which has no Git history. Without it, two builds have the same version. */
const commitOf = (): string => {
  const { SOURCE_COMMIT } = process.env
  if (SOURCE_COMMIT) return SOURCE_COMMIT.slice(0, 12)
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'unknown'
  }
}

const read = (file: string) => readFileSync(join(root, file), 'utf8')

export const buildVersion = (): string => versionOf(JSON.parse(read('package.json')).version, read('CHANGELOG.md'), commitOf())
