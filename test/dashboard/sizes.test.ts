import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../dashboard/src/styles/', import.meta.url))

/** Marks inside a shape, a decision's amount, and fields on a phone, which zooms into anything smaller than 16 px. */
const apart: readonly RegExp[] = [
  /^\.(mark|ring > span|tab|tab \.nav-count|amount-hero)$/,
  /(^|, ?)(\.input|\.palette-field input)/,
]

/** Each rule's selector with its own declarations. */
const rulesIn = (css: string): { selector: string; body: string }[] =>
  [...css.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(/([^{};]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => ({
    selector: selector.replace(/\s+/g, ' ').trim(),
    body,
  }))

test('text has one of four sizes: 13, 14, 20 or 32 pixels', () => {
  const tokens = readFileSync(`${folder}tokens.css`, 'utf8')
  expect([...tokens.matchAll(/--text[\w-]*: ([\d.]+)rem/g)].map(([, rem]) => Number(rem) * 16)).toEqual([13, 14, 20, 32])
  const sizes = readdirSync(folder)
    .filter((name) => name.endsWith('.css'))
    .flatMap((name) => rulesIn(readFileSync(folder + name, 'utf8')))
    .flatMap(({ selector, body }) => {
      const size = /font(?:-size)?:[^;]*?((?:var\(--text[\w-]*\)|[\d.]+(?:r?em|px)))/.exec(body)?.[1]
      return size === undefined ? [] : [{ selector, size }]
    })
  expect(sizes.length).toBeGreaterThan(30)
  const others = sizes.filter(({ selector, size }) => !/^var|[\d.]em$/.test(size) && !apart.some((known) => known.test(selector)))
  expect(others).toEqual([])
})
