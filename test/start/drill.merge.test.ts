import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { exercises } from '../../src/operate/drill/drill.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test.each(exercises)(
  'the drill "$name" plays tests that exist, and names a document that exists',
  ({ file, tests, document }) => {
    const source = readFileSync(join(root, file), 'utf8')
    expect(tests.filter((name) => !source.includes(`'${name}'`))).toEqual([])
    const [path = '', section] = document.split(', ')
    const text = readFileSync(join(root, path), 'utf8')
    if (section !== undefined) expect(text).toContain(`## ${section.replaceAll('"', '')}`)
  },
)
