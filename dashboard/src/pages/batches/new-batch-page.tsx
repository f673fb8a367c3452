import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { RowFault } from '../../../../client/src/list-faults.ts'
import { ApiError, isRetryable } from '../../api/error.ts'
import { type BatchInput, batchClient, batchPaymentsQuery, batchQuery, rowsOf } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import {
  type BatchSheet,
  exampleCsv,
  parseSheet,
  parseSheetFile,
  rememberColumns,
  rowFault,
  sheetProblem,
  withCell,
  withoutRows,
} from '../../lib/batch-sheet.ts'
import { tBatch } from '../../lib/batch-texts.ts'
import { useDraft } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { batchRequestOf, repeatedSheet } from '../../lib/repeated-batch.ts'
import { type Encoding, encodingsOf, saveFile } from '../../lib/text-file.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { FileField, TextArea, TextField } from '../../ui/field.tsx'
import { Form, useIdempotencyKey } from '../../ui/form.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { Card, Failure, Notice, Page, SkeletonCard } from '../../ui/page.tsx'
import { readSendTime, SendLater, sendNow } from '../../ui/send-later.tsx'
import { announce } from '../../ui/toast.tsx'
import { BatchColumns } from './batch-columns.tsx'
import { BatchRows } from './batch-rows.tsx'

// The code for the result of a check loads with the first result.
const BatchFaults = lazyPart(async () => (await import('./check-result.tsx')).BatchFaults)
const BatchPreview = lazyPart(async () => (await import('./check-result.tsx')).BatchPreview)

const newBatchPath = '/payments/batches/new'

export const NewBatchPage = () => {
  const again = useSearchParams()[0].get('again')
  return (
    <Page
      title={again ? tBatch('again') : tBatch('pay')}
      lead={again ? tBatch('again.note') : tBatch('new.note')}
      back={{ href: '/payments/batches', label: tBatch('batches') }}
    >
      <Allowed permission="payment.create" action={tBatch('to_pay')}>
        {again ? <Again key={again} id={again} /> : <NewBatch />}
      </Allowed>
    </Page>
  )
}

type Draft = { list: BatchSheet | null; name: string; time: typeof sendNow }

const noDraft: Draft = { list: null, name: '', time: sendNow }

const NewBatch = ({ initial = noDraft }: { initial?: Draft }) => {
  const { account } = useSession()
  const draft = useDraft('list', account.id, () => initial)
  const { list } = draft.value
  if (list) return <Review list={list} draft={draft} />
  return <ChooseFile onRead={(read) => draft.set({ list: read, name: read.name })} />
}

/** A new batch that starts with the rows of an earlier one. */
const Again = ({ id }: { id: string }) => {
  const batch = useQuery(batchQuery(id))
  const read = useEvery(batchPaymentsQuery(id, {}))
  if (read.isError) return <Failure error={read.error} onRetry={() => void read.refetch()} />
  if (batch.isError) return <LoadState query={batch} apiPath={`/v1/payment-batches/${id}`} />
  if (!batch.data || !read.isSuccess || read.hasNextPage) return <SkeletonCard rows={6} />
  const list = repeatedSheet(batch.data, rowsOf(read))
  return <NewBatch initial={{ ...noDraft, list, name: list.name }} />
}

const hasMoreFaults = (error: unknown): boolean => error instanceof ApiError && typeof error.details.more === 'number'

type FailedAttempt = { error: unknown; faults: RowFault[] }

const attempt = async <Answer,>(
  list: BatchSheet,
  currency: string,
  send: (body: BatchInput) => Promise<Answer>,
): Promise<{ answer: Answer } | FailedAttempt> => {
  const { body, faults, faultsOf } = await batchRequestOf(list, currency)
  if (faults.length > 0) return { error: null, faults }
  try {
    return { answer: await send(body) }
  } catch (error) {
    return { error, faults: error instanceof ApiError ? faultsOf(error.details) : [] }
  }
}

/** An error names at most a hundred fields, so the remaining rows are checked again until all faults are known. */
const faultsOf = async (list: BatchSheet, check: (rest: BatchSheet) => ReturnType<typeof attempt>, refused: FailedAttempt) => {
  const faults: RowFault[] = []
  for (let last: FailedAttempt | null = refused; last; ) {
    faults.push(...last.faults)
    const rest = withoutRows(list, new Set(faults.map(({ row }) => row)))
    if (last.faults.length === 0 || !hasMoreFaults(last.error) || rest.rows.length === 0) break
    const next = await check(rest)
    last = 'answer' in next ? null : next
  }
  // Replaces messages about the placeholder that the page sends for an unreadable row.
  return faults.map((fault) => {
    const row = fault.param === 'row' && list.rows.find(({ number }) => number === fault.row)
    return row ? { ...fault, message: rowFault(list, row) ?? fault.message } : fault
  })
}

type Preview = Awaited<ReturnType<typeof batchClient.check>>
/** Result of a check. `asked`: the checked batch, which may have changed since. */
type Checked = { asked: string; preview: Preview | null; error: unknown; faults: RowFault[] }

const Review = ({ list, draft }: { list: BatchSheet; draft: ReturnType<typeof useDraft<Draft>> }) => {
  const { name, time } = draft.value
  const onChange = (changed: BatchSheet) => draft.set({ list: changed })
  const [, navigate] = useLocation()
  const keyed = useIdempotencyKey()
  const [meantFor, setMeantFor] = useState('')
  const { currency } = useSession().account.balance
  const due = readSendTime(time)
  const options = {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...('at' in due && due.at !== null && { execute_at: due.at }),
  }
  const asked = JSON.stringify([list, options])
  const repeats = { meant: meantFor === asked, onMeant: () => setMeantFor(asked) }
  const checked = (some: BatchSheet) => attempt(some, currency, (body) => batchClient.check(body, options))
  const refused = async (refusal: FailedAttempt): Promise<Checked> => ({
    ...{ asked, preview: null, error: refusal.error },
    faults: await faultsOf(list, checked, refusal),
  })
  const check = useMutation({
    mutationFn: async (): Promise<Checked> => {
      rememberColumns(list)
      const done = await checked(list)
      return 'answer' in done ? { asked, preview: done.answer, error: null, faults: [] } : refused(done)
    },
  })
  const pay = useMutation({
    mutationFn: async (): Promise<Checked | null> => {
      const paid = { ...options, ...(repeats.meant && { duplicates_intended: true }) }
      const done = await attempt(list, currency, (body) =>
        batchClient.pay(body, paid, keyed([body, paid]).headers['Idempotency-Key']),
      )
      // The batch may have been created. The same request finds that out, while another check would find only repeats.
      if (!('answer' in done)) return isRetryable(done.error) ? { asked, preview, error: done.error, faults: [] } : refused(done)
      draft.clear()
      const said = { pending_approval: t('line.waiting'), scheduled: t('status.scheduled') } as Record<string, string>
      announce(said[done.answer.status] ?? tBatch('sent'))
      navigate(`/payments/batches/${done.answer.id}`)
      return null
    },
  })
  const last = pay.data ?? check.data
  const preview = last?.asked === asked ? last.preview : null
  const faults = last?.faults ?? []
  const busy = check.isPending || pay.isPending
  const asks = preview?.items.some(({ looks_like: earlier }) => earlier !== null) && !repeats.meant
  const ready = 'at' in due && !asks && sheetProblem(list) === null
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
        {!list.repeats && <BatchColumns list={list} onChange={onChange} />}
        <Card
          footer={
            <div className="row">
              <Submit size="large" busy={busy} disabled={!ready}>
                {preview ? tBatch('pay_this') : tBatch('check')}
              </Submit>
              <Button variant="ghost" onClick={() => (list.repeats ? navigate(newBatchPath) : draft.set(noDraft))}>
                {list.repeats ? tBatch('upload') : tBatch('another')}
              </Button>
            </div>
          }
        >
          <TextField
            label={tBatch('name')}
            optional
            maxLength={120}
            value={name}
            onChange={(typed) => draft.set({ name: typed })}
            placeholder={tBatch('name.example')}
            hint={tBatch('name.hint')}
          />
          <SendLater value={time} onChange={(chosen) => draft.set({ time: chosen })} />
          {preview && <BatchPreview list={list} preview={preview} {...repeats} />}
          {preview && <Failure error={last?.error} />}
          {last && !last.preview && <BatchFaults list={list} error={last.error} faults={faults} {...repeats} />}
        </Card>
        <BatchRows
          list={list}
          faults={faults}
          onCell={(row, column, text) => onChange(withCell(list, row, column, text))}
          onRemove={(row) => onChange(withoutRows(list, new Set([row])))}
        />
      </div>
    </Form>
  )
}

/** Reads a file or pasted cells. If a file's encoding is unclear, the person chooses by a sample. */
export const ChooseFile = ({ onRead }: { onRead: (list: BatchSheet) => void }) => {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const [doubt, setDoubt] = useState<{ file: File; encodings: Encoding[] } | null>(null)
  const read = async (content: string | File, charset?: string) => {
    const found = await (typeof content === 'string' ? parseSheet(content) : parseSheetFile(content, charset))
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
            {tBatch('continue')}
          </Submit>
        }
      >
        <FileField
          label={tBatch('file')}
          hint={tBatch('file.hint')}
          error={problem}
          accept=".csv,.tsv,.txt,.xlsx,.xls,text/csv"
          onChoose={(file) => void (file && read(file))}
        />
        {doubt && (
          <Notice tone="warn" title={tBatch('letters')} live>
            <ul>
              {doubt.encodings.map(({ charset, label, sample }) => (
                <li key={charset}>
                  <p>
                    <bdi>{sample.slice(0, 80)}</bdi>
                  </p>
                  <Button size="small" onClick={() => void read(doubt.file, charset)}>
                    {tBatch('letters.this', { label })}
                  </Button>
                </li>
              ))}
            </ul>
            <p className="muted">{tBatch('letters.none')}</p>
          </Notice>
        )}
        <TextArea label={tBatch('paste')} mono value={text} onChange={setText} hint={tBatch('paste.hint')} />
        <div>
          <Button
            size="small"
            icon="download"
            onClick={() => saveFile('salaries.csv', new Blob([exampleCsv], { type: 'text/csv' }))}
          >
            {tBatch('example')}
          </Button>
        </div>
      </Card>
    </Form>
  )
}
