import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reach } from '../../api/error.ts'
import { chosenWorkspace } from '../../api/queries.ts'
import { curlOf, prettyJson } from '../../lib/recent-calls.ts'
import { CodeBlock, Submit } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Loading } from '../../ui/listing.tsx'
import { Badge, Card, Failure } from '../../ui/page.tsx'
import { DevelopersLayout } from './developers-layout.tsx'

type Sent = { address: string; status: number; ms: number; text: string }

const longest = 50_000

/** As it was answered: what a program would get, also a refusal. */
const send = async (address: string): Promise<Sent> => {
  const started = performance.now()
  const workspace = chosenWorkspace()
  const headers = { accept: 'application/json', ...(workspace !== null && { 'Workspace-Id': workspace }) }
  const response = await reach(address, { headers })
  const text = await response.text()
  return {
    address,
    status: response.status,
    ms: Math.round(performance.now() - started),
    text: prettyJson(text).slice(0, longest),
  }
}

/** The document is read when the page is opened: it lists what there is to call. */
const documentQuery = {
  queryKey: ['openapi'],
  queryFn: async () => {
    const response = await reach('/openapi.json')
    return readOperations(await response.json())
  },
  staleTime: Number.POSITIVE_INFINITY,
}

export const TryPage = () => {
  const operations = useQuery(documentQuery)
  return (
    <DevelopersLayout>
      <Loading query={operations} rows={3} />
      {operations.data && <TryForm operations={operations.data} />}
    </DevelopersLayout>
  )
}

const TryForm = ({ operations }: { operations: readonly Operation[] }) => {
  const [path, setPath] = useState(operations[0]?.path ?? '')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const calling = useMutation({ mutationFn: send })
  const operation = operations.find((each) => each.path === path) ?? operations[0]
  if (!operation) return null
  const address = addressOf(operation, values)
  const missing = operation.parameters.some(({ name, required }) => required && !values[name]?.trim())
  return (
    <div className="stack">
      <Card title="Try a call" note="With your session, and only what reads: nothing is changed.">
        <Form className="stack" ready={!missing} busy={calling.isPending} onSubmit={() => calling.mutate(address)}>
          <SelectField
            label="Operation"
            value={operation.path}
            onChange={(chosen) => {
              setPath(chosen)
              setValues({})
              calling.reset()
            }}
            options={operations.map(({ path: value, summary }) => ({ value, label: `${summary}: ${value}` }))}
          />
          {operation.parameters.length > 0 && (
            <div className="columns">
              {operation.parameters.map(({ name, required, hint }) => (
                <TextField
                  key={name}
                  label={name}
                  optional={!required}
                  hint={hint}
                  mono
                  value={values[name] ?? ''}
                  onChange={(value) => setValues({ ...values, [name]: value })}
                />
              ))}
            </div>
          )}
          <CodeBlock label="curl command" code={curlOf({ method: 'GET', path: address, body: '' })} />
          <div className="row">
            <Submit busy={calling.isPending} disabled={missing}>
              Send
            </Submit>
          </div>
          <Failure error={calling.error} />
        </Form>
      </Card>
      {calling.data && (
        <Card
          title="Answer"
          actions={<Badge tone={calling.data.status < 400 ? 'good' : 'warn'}>{String(calling.data.status)}</Badge>}
          note={`${calling.data.address}, ${calling.data.ms} ms`}
        >
          <CodeBlock label="Answer" code={calling.data.text} />
        </Card>
      )}
    </div>
  )
}

type Operation = {
  path: string
  summary: string
  parameters: readonly { name: string; place: 'path' | 'query'; required: boolean; hint: string | undefined }[]
}

type Parameter = { name: string; in: string; required?: boolean; description?: string }
type Document = {
  paths: Record<string, { get?: { summary?: string; parameters?: { $ref: string }[] } }>
  components: { parameters: Record<string, Parameter> }
}

/** Not a question and an answer: a stream, pages and redirects of a sign-in, and what only administrators read. */
const apart = /^\/v1\/(admin|auth|oauth|notifications\/stream)/

const readOperations = ({ paths, components }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get || !path.startsWith('/v1/') || apart.test(path)) return []
    const named = (get.parameters ?? []).flatMap(({ $ref }) => components.parameters[$ref.split('/').at(-1) ?? ''] ?? [])
    const parameters = named.flatMap(({ name, in: place, required = false, description }) =>
      place === 'path' || place === 'query'
        ? [{ name, place, required: required || place === 'path', hint: description } as const]
        : [],
    )
    return [{ path, summary: get.summary ?? path, parameters }]
  })

const addressOf = ({ path, parameters }: Operation, values: Readonly<Record<string, string>>): string => {
  const entered = (name: string): string => values[name]?.trim() ?? ''
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => encodeURIComponent(entered(name)) || whole)
  const query = new URLSearchParams(
    parameters.filter(({ name, place }) => place === 'query' && entered(name) !== '').map(({ name }) => [name, entered(name)]),
  )
  return query.size === 0 ? filled : `${filled}?${query}`
}
