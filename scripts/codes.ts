import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { errorCodes, errorRow } from '../src/errors/catalogue.ts'
import { failureActors, failureCodes, failureRow } from '../src/errors/failures.ts'
import { isUndelegated, permissionToRead } from '../src/events/types.ts'
import { conflictReasons } from '../src/lib/conflict-reasons.ts'
import { policyFieldNames, policyFields, wireName } from '../src/policy/fields.ts'
import type { AnyRule } from '../src/policy/rules.ts'
import meanings from '../texts/rule-meanings.en.json' with { type: 'json' }
import { eventFamilies } from './docs/events.ts'

/** All rules that a decision's trace can name, each with its check. */
const ruleMeanings: Readonly<Record<AnyRule, string>> = meanings

export const codesFile = fileURLToPath(new URL('../docs/codes.md', import.meta.url))

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const meaningsOf = (texts: Readonly<Record<string, string>>): string =>
  table(
    ['Code', 'Meaning'],
    Object.entries(texts).map(([code, text]) => [`\`${code}\``, text]),
  )

const errors = errorCodes.map((code) => {
  const { status, sentence, fix } = errorRow(code)
  return [String(status), `\`${code}\``, sentence, fix]
})

const failures = failureCodes.map((code) => {
  const { sentence, actor, fix } = failureRow(code)
  return [`\`${code}\``, sentence, failureActors[actor], fix]
})

const fields = policyFieldNames.map((field) => {
  const { absent, meaning } = policyFields[field]
  return [`\`${wireName(field)}\``, `\`${JSON.stringify(absent)}\``, meaning]
})

const codeList = (names: readonly string[], separator: string): string => names.map((name) => `\`${name}\``).join(separator)
const orForTeam = '; for a team, '

/** An event about a balance shows the account of a person, and anything else about the workspace. */
const permissionFor = (type: string, data: string): string => String(permissionToRead(type, { ofTeam: data !== 'Account' }))

const events = eventFamilies.map(({ name, types: [first = '', ...others], data }) => [
  codeList([first, ...others], ' '),
  `\`${name}\``,
  codeList(data, orForTeam),
  codeList(
    data.map((one) => permissionFor(first, one)),
    orForTeam,
  ) + (isUndelegated(first) ? ', no grant' : ''),
])

/** All closed lists of the API, taken from the code that uses them. */
export const codesText = (): string => `# Codes

Every closed list of the API. \`npm run codes\` writes this page from the code, and a test compares them.

## Errors

\`error\` of a refusal. Each has a page at \`/docs/errors/<code>\`, where \`details.doc_url\` leads.

${table(['Status', 'Code', 'Meaning', 'What to do'], errors)}

## Conflicts

\`details.reason\` of a 409 \`conflict\`.

${meaningsOf(conflictReasons)}

## Failures

\`failure_code\` of a payment or a top-up that failed. The code of the provider itself is in \`provider_code\`.

${table(['Code', 'Meaning', 'Who must act', 'What to do'], failures)}

## Rules

\`rule\` in the trace of a decision.

${meaningsOf(ruleMeanings)}

## Policy fields

The fields of a spending policy. A field that is left out of a new policy, or removed with null, has the value in the second column.

${table(['Field', 'Left out', 'Meaning'], fields)}

## Events

${table(['Types', 'Schema', 'data', 'Needs'], events)}

On the stream there is also \`stream.reset\` (\`StreamResetEvent\`): the events since \`Last-Event-ID\` are no longer stored.
`

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(codesFile, codesText())
