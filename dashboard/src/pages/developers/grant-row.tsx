import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaryNames } from '../../api/use-beneficiaries.ts'
import { controlsWords } from '../../lib/controls-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Badge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { GrantUsage } from './grant-usage.tsx'

type Props = {
  grant: Schemas['Grant']
  href: string
  icon: IconName
  badges?: ReactNode
  note?: ReactNode
  /** Neither limits nor usage: it has ended. */
  ended?: boolean
}

/** A key or an agent in a list: its limits and their use, with a link to its page. */
export const GrantRow = ({ grant, href, icon, badges, note, ended = false }: Props) => {
  const { currency, workspace } = useSession()
  const nameOf = useBeneficiaryNames(grant.spending_controls.beneficiary_ids ?? [])
  return (
    <Link href={href} className="item" style={{ alignItems: 'flex-start' }}>
      <span className="avatar">
        <Icon name={icon} />
      </span>
      <div className="item-main stack-s">
        <div>
          <p className="item-title">
            {grant.label}
            {badges}
            {grant.frozen && <Badge tone="info">Frozen</Badge>}
            {grant.workspace_id !== workspace.id && <Badge dot={false}>Other workspace</Badge>}
          </p>
          <p className="item-note">
            {note}
            {grant.last_used_at ? (
              <>
                last used <Time at={grant.last_used_at} />
              </>
            ) : (
              'never used'
            )}
          </p>
          {!ended && <p className="item-note">{controlsWords(grant.spending_controls, currency, nameOf)}</p>}
        </div>
        {!ended && <GrantUsage grant={grant} />}
      </div>
      <span className="item-side faint">
        <Icon name="forward" size={16} />
      </span>
    </Link>
  )
}
