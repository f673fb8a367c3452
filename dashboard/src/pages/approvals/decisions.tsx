import type { Schemas } from '../../api/types.ts'
import { capitalized } from '../../lib/list-words.ts'
import { shortAddress } from '../../lib/mask.ts'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'

/** The decisions so far. */
export const Decisions = ({ approval, people }: { approval: Schemas['Approval']; people: (id: string) => string }) => {
  if (approval.decisions.length === 0) return null
  return (
    <Card title="Decisions">
      <ul className="timeline">
        {approval.decisions.map((decision) => (
          <li key={`${decision.account_id} ${decision.decided_at}`}>
            <span className={`timeline-mark tone-${decision.decision === 'approve' ? 'good' : 'bad'}`}>
              <Icon name={decision.decision === 'approve' ? 'check' : 'cross'} size={14} />
            </span>
            <div>
              <p>
                <span className="strong">{capitalized(people(decision.account_id))}</span>{' '}
                {decision.decision === 'approve' ? 'approved' : 'rejected'}
              </p>
              <p className="quiet small">
                <Time at={decision.decided_at} />
                {decision.via === 'passkey' && ', signed with a passkey'}
                {decision.via === 'signature' && `, signed${decision.signer ? ` by ${shortAddress(decision.signer)}` : ''}`}
                {decision.reason && `: ${decision.reason}`}
              </p>
              {decision.voided_at && (
                <p className="quiet small">
                  Stopped counting <Time at={decision.voided_at} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}
