import { expect, test } from 'vitest'
import { parseSource, readProgram, type Source } from './source.ts'
import { type Node, walk } from './syntax.ts'

/** Attributes that people read. */
const read = /^(title|label|hint|note|lead|placeholder|action|keep|none|announcement|aria-label|before|after|plain|headings)$/
/** A sentence, or a label: words of more than one letter that begin with a capital, or several of them. */
const words = /\p{L}{2,}[ ,.:?!…’]+\p{L}{2,}|^\p{Lu}\p{Ll}+/u
const sentence = /(?:\p{L}+[ ,’]+){2}\p{L}{2,}/u
/** Addresses, selectors, commands and lists of words. */
const program = /[/=$[\n]|^(?:input|all|npm run)[ ,]/
/** Names that are the same in every language. */
const names =
  /^(?:Payments|M-PESA|Google|GitHub|Paybill|SHA-256|list as understood|an approval is about a payment or a batch|Merkle root|English|Kiswahili|Ctrl K|Esc|Enter|[\w-]+\.\w+)$/
/** Where strings are read by programs. */
const machine = /^(className|href|id|d|style|key|name|type|viewBox|permission|path|autoComplete|transform|invalidates)$/

const textOf = (node: Node): string => {
  if (node.type === 'JSXText') return node.value.trim()
  if (node.type === 'TemplateLiteral')
    return node.quasis
      .map(({ value }) => value.cooked ?? '')
      .join('{}')
      .trim()
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : ''
}

const isShown = (node: Node, around: readonly Node[]): boolean => {
  if (node.type === 'JSXText') return true
  const parent = around.findLast(({ type }) => type !== 'ArrayExpression')
  const attribute = around.findLast((each) => each.type === 'JSXAttribute')
  const attributeName = attribute?.type === 'JSXAttribute' && attribute.name.type === 'JSXIdentifier' ? attribute.name.name : ''
  if (machine.test(attributeName)) return false
  if (sentence.test(textOf(node)) && around.at(-1)?.type !== 'NewExpression') return true
  if (parent?.type === 'JSXAttribute') return read.test(attributeName)
  if (parent?.type === 'Property') return parent.value === node && parent.key.type === 'Identifier' && read.test(parent.key.name)
  return parent?.type === 'ConditionalExpression' ? parent.test !== node : parent?.type === 'JSXExpressionContainer'
}

/** Sentences of a page that a person reads in English whatever their language is. */
const englishIn = (file: Source): string[] => {
  const found: string[] = []
  walk(file, (node, around) => {
    const text = textOf(node)
    if (words.test(text) && !names.test(text) && !program.test(text) && isShown(node, around)) found.push(text)
  })
  return found
}

const pages = readProgram().filter(({ path }) => path.startsWith('dashboard/src/'))

test('the sentences of a page stand in texts/, in every language', () => {
  expect(pages.flatMap((page) => englishIn(page).map((text) => `${page.path}: ${text}`))).toEqual([])
})

test.each([
  ['the text of an element', '<p>Nothing was sent</p>'],
  ['an attribute', '<Card title="Details" />'],
  ['a template', '<Card title={`It was archived`} />'],
  ['a choice', '<p>{is ? "It is sent" : null}</p>'],
  ['a table', 'new Map([["paid", "It was paid twice"]])'],
  ['headings', '<Table headings={["Day"]} />'],
  ['an option', '<Choice choices={[{ value, label: "Send later" }]} />'],
])('%s is found', (_what, code) => {
  expect(englishIn(parseSource('dashboard/src/planted.tsx', `export const planted = ${code}`))).toHaveLength(1)
})
