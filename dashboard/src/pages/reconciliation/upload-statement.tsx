import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, everyPage, parametersOf, rowsOf, type Schemas, unknownPaymentsQuery } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { readTextFile } from '../../lib/text-file.ts'
import { shortMoney } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { FileField } from '../../ui/field.tsx'
import { Dialog, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Loading } from '../../ui/listing.tsx'
import { fieldError, SkeletonCard, TextNotice } from '../../ui/page.tsx'
import { richRecon, tRecon } from './texts.ts'
import { evidenceFrom, isListed } from './unknown.ts'

/** All differences of a comparison: a first upload may have hundreds. */
const differencesOfQuery = (reconciliation_id: string) =>
  queryOptions({
    queryKey: ['differences', reconciliation_id],
    queryFn: () =>
      everyPage((cursor) =>
        api.GET('/v1/admin/reconciliation-differences', { query: parametersOf({ reconciliation_id, limit: 100, cursor }) }),
      ),
  })

export const UploadStatement = () => (
  <DialogButton dialog={(close) => <UploadDialog onClose={close} />}>{tRecon('compare')}</DialogButton>
)

/** Compares a statement exported from the provider's portal. Books nothing, because the uploader may have written the file. */
const UploadDialog = ({ onClose }: { onClose: () => void }) => {
  const [file, setFile] = useState<{ name: string; text: string } | null>(null)
  const [problem, setProblem] = useState<string>()
  const choose = async (chosen: File | undefined) => {
    const text = chosen && (await readTextFile(chosen))
    setFile(chosen && typeof text === 'string' ? { name: chosen.name, text } : null)
    setProblem(typeof text === 'object' ? text.problem : undefined)
  }
  const comparison = useChange(
    () =>
      api.POST('/v1/admin/reconciliations', { body: { source: file?.name.slice(0, 120) ?? '', statement: file?.text ?? '' } }),
    { invalidates: ['reconciliations', 'differences', 'payments'] },
  )
  const run = comparison.data
  if (run)
    return (
      <Dialog title={tRecon('compare')} onClose={onClose} footer={<Button onClick={onClose}>{t('close')}</Button>}>
        <TextNotice
          tone={run.differences === 0 ? 'good' : 'warn'}
          title={tRecon('run_matched', { matched: run.matched, count: run.lines })}
          live
        >
          {run.differences === 0 ? tRecon('compare.agree') : tRecon('compare.differ', { count: run.differences })}
        </TextNotice>
        <EvidenceForUnknown run={run} />
        <Link href="/reconciliation/unknown" onClick={onClose}>
          {tRecon('unknown')}
        </Link>
      </Dialog>
    )
  return (
    <FormDialog
      title={tRecon('compare')}
      action={tRecon('compare.act')}
      mutation={comparison}
      ready={file !== null}
      onClose={onClose}
    >
      <FileField
        label={tRecon('compare.file')}
        hint={tRecon('compare.hint')}
        error={problem ?? fieldError(comparison.error, 'statement')}
        accept=".csv,text/csv"
        onChoose={(chosen) => void choose(chosen)}
      />
      <p className="muted small">
        {richRecon('compare.note', {
          command: <CopyText value="npm run admin -- reconcile statement.csv" label={tRecon('the_command')} />,
        })}
      </p>
    </FormDialog>
  )
}

/** The evidence of the compared statement about each payment with an unknown outcome. */
const EvidenceForUnknown = ({ run }: { run: Schemas['Reconciliation'] }) => {
  const payments = useEvery(unknownPaymentsQuery)
  const differences = useQuery(differencesOfQuery(run.id))
  if (!payments.data || payments.isError || !differences.data)
    return <Loading query={payments.data && !payments.isError ? differences : payments} rows={2} />
  if (payments.hasNextPage) return <SkeletonCard rows={2} />
  const all = rowsOf(payments).map((payment) => ({ payment, evidence: evidenceFrom(run, payment, differences.data) }))
  if (all.length === 0) return <p className="muted">{tRecon('compare.no_unknown')}</p>
  const paid = all.filter(({ evidence }) => isListed(evidence)).length
  return (
    <div className="stack-s">
      <p className="strong">{tRecon('compare.lists', { paid, count: all.length })}</p>
      <ul className="stack-xs small">
        {all.map(({ payment, evidence }) => (
          <li key={payment.id}>
            <span className="strong">
              {tRecon('to_payee', {
                amount: shortMoney(payment.amount_minor, payment.currency),
                name: payment.beneficiary.display_name,
              })}
            </span>
            <span className="muted block">{evidence.words}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
