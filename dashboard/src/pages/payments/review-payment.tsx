import { useEffect, useRef } from 'react'
import type { Schemas } from '../../api/types.ts'
import type { Decision } from '../../lib/decision-words.ts'
import { moneyText, shortMoney } from '../../lib/money.ts'
import { railFacts, typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { DecisionWarnings } from './decision-warnings.tsx'
import { type Draft, dueWords, type Verdict, VerdictLine } from './dry-run.tsx'
import type { PaymentFields } from './payment-form-state.ts'

type Props = {
  fields: PaymentFields
  draft: Draft
  beneficiary: Schemas['Beneficiary']
  decision: Decision
  verdict: Verdict
  busy: boolean
  error: unknown
  onSend: () => void
  onBack: () => void
}

/** The last step before money leaves: amount, beneficiary, payment method, and what will happen. */
export const ReviewPayment = ({ fields, draft, beneficiary, decision, verdict, busy, error, onSend, onBack }: Props) => {
  const { currency, workspace } = useSession()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const sends = verdict.kind === 'send'
  const amount = moneyText(draft.amount_minor, currency)
  return (
    <Form className="narrow" busy={busy} onSubmit={onSend}>
      <Card
        footer={
          <>
            <Button onClick={onBack} size="large">
              Edit
            </Button>
            <Submit size="large" busy={busy}>
              {sends ? `Send ${amount}` : verdict.kind === 'later' ? `Schedule ${amount}` : 'Request approval'}
            </Submit>
          </>
        }
      >
        <div className="stack">
          <div>
            <h2 ref={heading} tabIndex={-1} className="quiet">
              Pay {shortMoney(draft.amount_minor, currency)} to {beneficiary.display_name}?
            </h2>
            <Amount minor={draft.amount_minor} currency={currency} size="big" />
          </div>
          <DecisionWarnings decision={decision} />
          <VerdictLine verdict={verdict} />
          <Facts
            stacked
            facts={{
              To: beneficiary.display_name,
              'Legal name': beneficiary.legal_name,
              Destination: (
                <span>
                  {railFacts[beneficiary.payment_rail].label}, <span className="mono">{beneficiary.destination_mask}</span>
                </span>
              ),
              Sent: draft.execute_at && dueWords(draft.execute_at),
              Purpose: fields.narrative.trim(),
              'Account reference': fields.reference.trim(),
              'Purpose code': fields.purposeCode.trim().toUpperCase(),
              Type: fields.type.trim() && typeLabel(fields.type.trim()),
              From: workspace.name,
            }}
          />
          {sends && <p className="faint small">A payment that was sent can’t be recalled.</p>}
          {draft.execute_at && <p className="faint small">Until it is sent it can be cancelled.</p>}
          <Failure error={error} />
        </div>
      </Card>
    </Form>
  )
}
