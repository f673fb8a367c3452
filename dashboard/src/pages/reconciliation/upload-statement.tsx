import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, differencesOfQuery, rowsOf, type Schemas, unknownPaymentsQuery } from '../../api/queries.ts'
import { readTextFile } from '../../lib/text-file.ts'
import { countWords, shortMoney } from '../../lib/words.ts'
import { Button, CopyText } from '../../ui/button.tsx'
import { FileField } from '../../ui/field.tsx'
import { Dialog, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Loading } from '../../ui/listing.tsx'
import { fieldError, TextNotice } from '../../ui/page.tsx'
import { isListed, saidBy } from './unknown.ts'

export const UploadStatement = () => (
  <DialogButton dialog={(close) => <UploadDialog onClose={close} />}>Compare a statement</DialogButton>
)

/** Compares a statement that the provider's portal has exported. Whoever uploads it may have written it, so nothing is booked by it. */
const UploadDialog = ({ onClose }: { onClose: () => void }) => {
  const [file, setFile] = useState<{ name: string; text: string } | null>(null)
  const [problem, setProblem] = useState<string>()
  const choose = async (chosen: File | undefined) => {
    const text = chosen && (await readTextFile(chosen))
    setFile(chosen && typeof text === 'string' ? { name: chosen.name, text } : null)
    setProblem(typeof text === 'object' ? text.problem : undefined)
  }
  const compare = useChange(
    () =>
      api.POST('/v1/admin/reconciliations', { body: { source: file?.name.slice(0, 120) ?? '', statement: file?.text ?? '' } }),
    { outdates: ['reconciliations', 'differences', 'payments'] },
  )
  const run = compare.data
  if (run)
    return (
      <Dialog title="Compare a statement" onClose={onClose} footer={<Button onClick={onClose}>Close</Button>}>
        <TextNotice tone={run.differences === 0 ? 'good' : 'warn'} title={`${run.matched} of ${run.lines} matched`} live>
          {run.differences === 0
            ? 'The statement and the books agree.'
            : `${countWords(run.differences, 'difference')} listed in reconciliation.`}
        </TextNotice>
        <SettledBy run={run} />
        <Link href="/reconciliation/unknown" onClick={onClose}>
          Unknown payments
        </Link>
      </Dialog>
    )
  return (
    <FormDialog title="Compare a statement" action="Compare" making={compare} ready={file !== null} onClose={onClose}>
      <FileField
        label="Statement"
        hint="The CSV file from the provider’s portal."
        error={problem ?? fieldError(compare.error, 'statement')}
        accept=".csv,text/csv"
        onChoose={(chosen) => void choose(chosen)}
      />
      <p className="quiet small">
        It is compared with the books, and nothing is booked. On the server,{' '}
        <CopyText value="npm run admin -- reconcile statement.csv" label="the command" /> takes a statement as evidence.
      </p>
    </FormDialog>
  )
}

/** Which of the unknown payments a compared statement shows as paid, and what it says of the others. */
const SettledBy = ({ run }: { run: Schemas['Reconciliation'] }) => {
  const payments = useInfiniteQuery(unknownPaymentsQuery)
  const differences = useQuery(differencesOfQuery(run.id))
  if (!payments.data || !differences.data) return <Loading query={payments.data ? differences : payments} rows={2} />
  const found = differences.data.data
  const all = rowsOf(payments).map((payment) => ({ payment, said: saidBy(run, payment, found) }))
  if (all.length === 0) return <p className="quiet">No payment is unknown.</p>
  const paid = all.filter(({ said }) => isListed(said)).length
  return (
    <div className="stack-s">
      <p className="strong">
        It lists {paid} of {countWords(all.length, 'unknown payment')}
      </p>
      <ul className="stack-xs small">
        {all.map(({ payment, said }) => (
          <li key={payment.id}>
            <span className="strong">
              {shortMoney(payment.amount_minor, payment.currency)} to {payment.beneficiary.display_name}
            </span>
            <span className="quiet block">{said.words}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
