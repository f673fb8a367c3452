import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { call, paymentLists } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { countWords } from '../../lib/list-words.ts'
import {
  exampleList,
  faultsIn,
  type PaymentList,
  type RowFault,
  readList,
  readListFile,
  withCell,
  withoutRow,
  writeList,
} from '../../lib/payment-list.ts'
import { saveFile } from '../../lib/save-file.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, TextArea, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Notice, Page } from '../../ui/layout.tsx'
import { readSendTime, SendLater, sendNow } from '../../ui/send-later.tsx'
import { announce } from '../../ui/toast.tsx'
import { ListPreview } from './list-preview.tsx'
import { ListRows } from './list-rows.tsx'

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

const NewBatch = () => {
  const [list, setList] = useState<PaymentList | null>(null)
  return list ? <Review list={list} onChange={setList} onBack={() => setList(null)} /> : <Choose onRead={setList} />
}

/** A file, or what is copied from a spreadsheet. */
const Choose = ({ onRead }: { onRead: (list: PaymentList) => void }) => {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const read = async (content: string | File) => {
    const found = await (typeof content === 'string' ? readList(content) : readListFile(content))
    if ('problem' in found) return setProblem(found.problem)
    onRead(found)
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
        <div className="stack">
          <Field
            label="File"
            hint="Saved as CSV. The first row names the columns: name, phone and amount, and what else you need: narrative, reference."
            error={problem}
          >
            {(wiring) => (
              <input
                {...wiring}
                className="input"
                type="file"
                accept=".csv,.tsv,.txt,.xlsx,.xls,text/csv"
                onChange={(event) => void (event.target.files?.[0] && read(event.target.files[0]))}
              />
            )}
          </Field>
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
        </div>
      </Card>
    </Form>
  )
}

type ReviewProps = { list: PaymentList; onChange: (list: PaymentList) => void; onBack: () => void }

/** What was checked last; the list may have been changed since. */
type Checked<Result> = { csv: string; result: Result }

const faultsOf = (error: unknown): RowFault[] => (error instanceof ApiError ? faultsIn(error.details) : [])

const Review = ({ list, onChange, onBack }: ReviewProps) => {
  const [, navigate] = useLocation()
  const keyFor = useIdempotencyKey()
  const [name, setName] = useState(list.name)
  const [time, setTime] = useState(sendNow)
  const [meant, setMeant] = useState(false)
  const csv = writeList(list)
  const due = readSendTime(time)
  const options = {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...('at' in due && due.at !== null && { execute_at: due.at }),
  }
  const asked = JSON.stringify([csv, options])
  const check = useMutation({
    mutationFn: async (): Promise<Checked<Awaited<ReturnType<typeof paymentLists.check>>>> => ({
      csv: asked,
      result: await call(paymentLists.check(csv, options)),
    }),
  })
  const pay = useMutation({
    mutationFn: () => {
      const paid = { ...options, ...(meant && { duplicates_intended: true }) }
      return call(paymentLists.pay(csv, paid, keyFor([csv, paid])['Idempotency-Key']))
    },
    onSuccess: (batch) => {
      announce(
        batch.status === 'pending_approval' ? 'Waiting for approval' : batch.status === 'scheduled' ? 'Scheduled' : 'List sent',
      )
      navigate(`/payments/batches/${batch.id}`)
    },
  })
  const preview = check.data?.csv === asked ? check.data.result : null
  const error = pay.error ?? check.error
  const faults = faultsOf(error)
  const isDuplicate = error instanceof ApiError && error.details.reason === 'possible_duplicate'
  const busy = check.isPending || pay.isPending
  const asks = preview?.items.some(({ looks_like: earlier }) => earlier !== null) && !meant
  const ready = 'at' in due && !asks
  return (
    <Form busy={busy} ready={ready} onSubmit={() => (preview ? pay.mutate() : check.mutate())}>
      <div className="stack">
        <Card
          footer={
            <div className="row">
              <Submit size="large" busy={busy} disabled={!ready}>
                {preview ? 'Pay this list' : 'Check the list'}
              </Submit>
              <Button variant="quiet" onClick={onBack}>
                Choose another list
              </Button>
            </div>
          }
        >
          <div className="stack">
            <TextField
              label="Name"
              optional
              maxLength={120}
              value={name}
              onChange={setName}
              placeholder="Salaries March"
              hint="The person who approves reads it."
            />
            <SendLater value={time} onChange={setTime} />
            {preview && <ListPreview preview={preview} list={list} meant={meant} onMeant={() => setMeant(true)} />}
            {faults.length > 0 && (
              <Notice
                tone="bad"
                title={`${countWords(new Set(faults.map(({ index }) => index)).size, 'row')} cannot be paid, so nothing was created`}
                live
              >
                <p>Correct them below, then check again.</p>
                {isDuplicate && (
                  <Button size="small" onClick={() => setMeant(true)}>
                    {meant ? 'The repeated payments are meant' : 'These payments are meant again'}
                  </Button>
                )}
              </Notice>
            )}
            {faults.length === 0 && <Failure error={error} />}
          </div>
        </Card>
        <ListRows
          list={list}
          faults={faults}
          onCell={(row, column, text) => onChange(withCell(list, row, column, text))}
          onRemove={(row) => {
            check.reset()
            pay.reset()
            onChange(withoutRow(list, row))
          }}
        />
      </div>
    </Form>
  )
}
