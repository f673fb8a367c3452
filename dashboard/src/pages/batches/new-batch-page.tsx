import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { ListOptions } from '#client'
import { faultsIn, type RowFault } from '../../../../client/src/list-faults.ts'
import { ApiError } from '../../api/error.ts'
import { paymentLists } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import {
  exampleList,
  listProblem,
  type PaymentList,
  readList,
  readListFile,
  rememberColumns,
  rowFault,
  withCell,
  withoutRows,
  writeList,
} from '../../lib/payment-list.ts'
import { type Encoding, encodingsOf, saveFile } from '../../lib/text-file.ts'
import { Allowed, useSession } from '../../shell/session.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { FileField, TextArea, TextField } from '../../ui/field.tsx'
import { Form, useIdempotencyKey } from '../../ui/form.tsx'
import { Card, Notice, Page } from '../../ui/page.tsx'
import { readSendTime, SendLater, sendNow } from '../../ui/send-later.tsx'
import { announce } from '../../ui/toast.tsx'
import { ListFaults, ListPreview } from './list-checked.tsx'
import { ListColumns, ListRows } from './list-table.tsx'

export const NewBatchPage = () => (
  <Page
    title="Pay a list"
    lead="A spreadsheet with a row for each payment. Everything is checked before anything is paid."
    back={{ href: '/payments/batches', label: 'Lists of payments' }}
  >
    <Allowed permission="payment.create" action="pay a list">
      <NewBatch />
    </Allowed>
  </Page>
)

type Draft = { list: PaymentList | null; name: string; time: typeof sendNow }

const noDraft: Draft = { list: null, name: '', time: sendNow }

const NewBatch = () => {
  const { account } = useSession()
  const draft = useDraft('list', account.id, () => noDraft)
  const { list } = draft.value
  return list ? (
    <Review list={list} draft={draft} />
  ) : (
    <ChooseList onRead={(read) => draft.set({ list: read, name: read.name })} />
  )
}

const isCutShort = (error: unknown): boolean => error instanceof ApiError && typeof error.details.more === 'number'

/** A refusal names the first hundred fields: the rows that it does not name are checked again without those, until all are known. */
const faultsOf = async (list: PaymentList, options: ListOptions, refusal: unknown): Promise<RowFault[]> => {
  const faults: RowFault[] = []
  for (let error = refusal; error instanceof ApiError; ) {
    const found = faultsIn(error.details)
    faults.push(...found)
    const rest = withoutRows(list, new Set(faults.map(({ row }) => row)))
    if (found.length === 0 || !isCutShort(error) || rest.rows.length === 0) break
    error = await paymentLists.check(writeList(rest), options).then(
      () => null,
      (next: unknown) => next,
    )
  }
  // What the page made of a row that has moved says nothing to a person.
  return faults.map((fault) => {
    const row = fault.param === 'row' && list.rows.find(({ number }) => number === fault.row)
    return row ? { ...fault, message: rowFault(list, row) ?? fault.message } : fault
  })
}

type Preview = Awaited<ReturnType<typeof paymentLists.check>>
/** What was found out about a list; it may have been changed since. */
type Checked = { asked: string; preview: Preview | null; error: unknown; faults: RowFault[] }

type ReviewProps = { list: PaymentList; draft: ReturnType<typeof useDraft<Draft>> }

const Review = ({ list, draft }: ReviewProps) => {
  const { name, time } = draft.value
  const onChange = (changed: PaymentList) => draft.set({ list: changed })
  const [, navigate] = useLocation()
  const keyed = useIdempotencyKey()
  const [meant, setMeant] = useState(false)
  const csv = writeList(list)
  const due = readSendTime(time)
  const options = {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...('at' in due && due.at !== null && { execute_at: due.at }),
  }
  const asked = JSON.stringify([csv, options])
  const refused = async (error: unknown): Promise<Checked> => ({
    asked,
    preview: null,
    error,
    faults: await faultsOf(list, options, error),
  })
  const check = useMutation({
    mutationFn: async (): Promise<Checked> => {
      rememberColumns(list)
      try {
        return { asked, preview: await paymentLists.check(csv, options), error: null, faults: [] }
      } catch (error) {
        return refused(error)
      }
    },
  })
  const pay = useMutation({
    mutationFn: async (): Promise<Checked | null> => {
      const paid = { ...options, ...(meant && { duplicates_intended: true }) }
      try {
        const batch = await paymentLists.pay(csv, paid, keyed([csv, paid]).headers['Idempotency-Key'])
        draft.clear()
        const done = { pending_approval: 'Waiting for approval', scheduled: 'Scheduled' } as Record<string, string>
        announce(done[batch.status] ?? 'List sent')
        navigate(`/payments/batches/${batch.id}`)
        return null
      } catch (error) {
        return refused(error)
      }
    },
  })
  const last = pay.data ?? check.data
  const preview = last?.asked === asked ? last.preview : null
  const faults = last?.faults ?? []
  const busy = check.isPending || pay.isPending
  const asks = preview?.items.some(({ looks_like: earlier }) => earlier !== null) && !meant
  const ready = 'at' in due && !asks && listProblem(list) === null
  return (
    <Form
      busy={busy}
      ready={ready}
      onSubmit={() => {
        if (preview) return pay.mutate()
        pay.reset()
        check.mutate()
      }}
    >
      <div className="stack">
        <ListColumns list={list} onChange={onChange} />
        <Card
          footer={
            <div className="row">
              <Submit size="large" busy={busy} disabled={!ready}>
                {preview ? 'Pay this list' : 'Check the list'}
              </Submit>
              <Button variant="quiet" onClick={() => draft.set(noDraft)}>
                Choose another list
              </Button>
            </div>
          }
        >
          <TextField
            label="Name"
            optional
            maxLength={120}
            value={name}
            onChange={(typed) => draft.set({ name: typed })}
            placeholder="Salaries March"
            hint="The person who approves reads it."
          />
          <SendLater value={time} onChange={(chosen) => draft.set({ time: chosen })} />
          {preview && <ListPreview preview={preview} meant={meant} onMeant={() => setMeant(true)} />}
          {last?.error != null && (
            <ListFaults list={list} error={last.error} faults={faults} meant={meant} onMeant={() => setMeant(true)} />
          )}
        </Card>
        <ListRows
          list={list}
          faults={faults}
          onCell={(row, column, text) => onChange(withCell(list, row, column, text))}
          onRemove={(row) => onChange(withoutRows(list, new Set([row])))}
        />
      </div>
    </Form>
  )
}

type Doubt = { file: File; encodings: Encoding[] }

/** A file, or what is copied from a spreadsheet. Where a file does not say how its letters are to be read, the person says which are right. */
export const ChooseList = ({ onRead }: { onRead: (list: PaymentList) => void }) => {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const [doubt, setDoubt] = useState<Doubt | null>(null)
  const read = async (content: string | File, charset?: string) => {
    const found = await (typeof content === 'string' ? readList(content) : readListFile(content, charset))
    if (!('problem' in found)) return onRead(found)
    const encodings = typeof content === 'string' || charset ? [] : await encodingsOf(content)
    setProblem(encodings.length > 0 ? undefined : found.problem)
    setDoubt(typeof content === 'string' || encodings.length === 0 ? null : { file: content, encodings })
  }
  return (
    <Form ready={text.trim() !== ''} onSubmit={() => void read(text)}>
      <Card
        footer={
          <Submit size="large" disabled={text.trim() === ''}>
            Continue
          </Submit>
        }
      >
        <FileField
          label="File"
          hint="Saved as CSV. The first row names the columns: name, phone and amount, and what else you need: narrative, reference. You can say here what other columns are."
          error={problem}
          accept=".csv,.tsv,.txt,.xlsx,.xls,text/csv"
          onChoose={(file) => void (file && read(file))}
        />
        {doubt && (
          <Notice tone="warn" title="This file does not say how its letters are written. Which line is right?" live>
            <ul>
              {doubt.encodings.map(({ charset, label, sample }) => (
                <li key={charset}>
                  <p>
                    <bdi>{sample.slice(0, 80)}</bdi>
                  </p>
                  <Button size="small" onClick={() => void read(doubt.file, charset)}>
                    {`This one: ${label}`}
                  </Button>
                </li>
              ))}
            </ul>
            <p className="quiet">None of them? Save the file as “CSV UTF-8” and choose it again.</p>
          </Notice>
        )}
        <TextArea
          label="Or paste the rows"
          mono
          value={text}
          onChange={setText}
          hint="Copied from a spreadsheet, with the first row."
        />
        <div>
          <Button
            size="small"
            icon="download"
            onClick={() => saveFile('salaries.csv', new Blob([exampleList], { type: 'text/csv' }))}
          >
            Download an example
          </Button>
        </div>
      </Card>
    </Form>
  )
}
