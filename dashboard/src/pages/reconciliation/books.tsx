import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { providerLabel } from '../../../../src/rails/texts.ts'
import { reconciliationsQuery, trialBalanceQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { moneyText, sumMinor } from '../../lib/money.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Empty, Facts, SkeletonRows } from '../../ui/layout.tsx'
import { Listing, Rows } from '../../ui/listing.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { UploadStatement } from './upload-statement.tsx'

type Line = Schemas['TrialBalance']['lines'][number]
type Run = Schemas['Reconciliation']

const balanceOf = (lines: readonly Line[], account: string): string => {
  const line = lines.find((each) => each.account === account)
  return line ? (BigInt(line.debits_minor) - BigInt(line.credits_minor)).toString() : '0'
}

/** The books’ totals of the money at the providers: topped up, paid out, in suspense, and what is left there. */
export const Clearing = () => {
  const query = useQuery(trialBalanceQuery)
  return (
    <Card title="Clearing accounts" note="What the books say the providers hold for this service.">
      {query.isPending && <SkeletonRows rows={4} />}
      {query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && <ClearingFacts {...query.data} />}
    </Card>
  )
}

const ClearingFacts = ({ lines, currency }: Schemas['TrialBalance']) => {
  const [toppedUp, paidOut, suspense] = ['topup_clearing', 'rail_clearing', 'suspense'].map((account) =>
    balanceOf(lines, account),
  )
  const atProviders = sumMinor([toppedUp, paidOut, suspense].map((each) => each ?? '0'))
  return (
    <Facts
      facts={{
        'Top-ups received': moneyText(toppedUp ?? '0', currency),
        'Payments sent': moneyText(paidOut ?? '0', currency),
        'In suspense': moneyText(suspense ?? '0', currency),
        'Left at the providers': moneyText(atProviders, currency),
      }}
    />
  )
}

const result = ({ differences, matched, lines }: Run): string => {
  const listed = lines === 0 ? 'nothing listed' : `${matched} of ${lines} matched`
  if (differences === 0) return listed
  return `${listed}, ${differences} ${differences === 1 ? 'difference' : 'differences'}`
}

/** Every comparison with a provider's own list or statement, newest first. */
export const Comparisons = ({ currency }: { currency: string }) => {
  const query = useInfiniteQuery(reconciliationsQuery)
  const [uploading, setUploading] = useState(false)
  return (
    <Card
      title="Comparisons"
      note="Top-ups and the balances are compared with M-PESA’s own every day. A statement is compared when it is uploaded here, or reconciled on the server."
      actions={<Button onClick={() => setUploading(true)}>Compare a statement</Button>}
      flush
    >
      {uploading && <UploadStatement onClose={() => setUploading(false)} />}
      <Listing query={query} empty={<Empty icon="list" title="Nothing has been compared yet" />}>
        {(runs) => (
          <Rows items={runs}>
            {(run) => (
              <div className="item">
                <span className="item-main">
                  {providerLabel(run.provider)}
                  {run.account && ` ${run.account}`}, {run.source === 'provider' ? 'top-ups of a day' : run.source}
                  <span className="item-note block">
                    <ExactTime at={run.period_start} /> to <ExactTime at={run.period_end} />
                  </span>
                  <span className="item-note block">
                    {result(run)}; books {moneyText(run.booked_minor, currency)}, provider {moneyText(run.stated_minor, currency)}
                    {run.charges_minor !== '0' && `, and charges ${moneyText(run.charges_minor, currency)}`}
                  </span>
                  {run.unproven && <span className="item-note block">{run.unproven}</span>}
                </span>
              </div>
            )}
          </Rows>
        )}
      </Listing>
    </Card>
  )
}
