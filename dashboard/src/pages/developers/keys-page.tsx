import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiKeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { now } from '../../lib/clock.ts'
import { controlsWords } from '../../lib/controls-words.ts'
import { countWords } from '../../lib/list-words.ts'
import { permissionWords } from '../../lib/permission-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { EditLimits } from './edit-limits.tsx'
import { GrantUsage } from './grant-usage.tsx'
import { NewKey } from './new-key.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'

type ApiKey = Schemas['ApiKey']
type Open = { what: 'rotate' | 'revoke' | 'limits'; apiKey: ApiKey } | null

const Lasts = ({ apiKey }: { apiKey: ApiKey }) => {
  if (apiKey.revoked_at && Date.parse(apiKey.revoked_at) > now())
    return (
      <>
        ends in <Countdown to={apiKey.revoked_at} over="a moment" />
      </>
    )
  if (apiKey.status !== 'active') return null
  return apiKey.expires_at ? (
    <>
      until <Time at={apiKey.expires_at} />
    </>
  ) : (
    <>does not expire</>
  )
}

const KeyRow = ({ apiKey, onOpen }: { apiKey: ApiKey; onOpen: (open: Open) => void }) => {
  const { workspace, currency } = useSession()
  const beneficiaries = useBeneficiaries()
  const live = apiKey.status === 'active'
  return (
    <div className="item" style={{ alignItems: 'flex-start' }}>
      <span className="avatar">
        <Icon name="key" />
      </span>
      <div className="item-main stack-s">
        <div>
          <p className="item-title">
            {apiKey.name}
            {!live && <StatusBadge status={apiKey.status} />}
            {apiKey.grant.frozen && <Badge tone="info">Frozen</Badge>}
            {apiKey.workspace_id !== workspace.id && <Badge>Other workspace</Badge>}
          </p>
          <p className="item-note">
            <span className="mono">
              {apiKey.key_prefix}…{apiKey.last_four}
            </span>{' '}
            ·{' '}
            {apiKey.last_used_at ? (
              <>
                used <Time at={apiKey.last_used_at} />
              </>
            ) : (
              'never used'
            )}{' '}
            · <Lasts apiKey={apiKey} />
          </p>
          <p className="item-note">{controlsWords(apiKey.grant.spending_controls, currency, beneficiaries.nameOf)}</p>
        </div>
        {live && (
          <>
            <GrantUsage grant={apiKey.grant} currency={currency} />
            <details>
              <summary className="small quiet">May do {countWords(apiKey.permissions.length, 'thing')}</summary>
              <ul className="chips">
                {apiKey.permissions.map((permission) => (
                  <li key={permission} className="chip" title={permission}>
                    {permissionWords[permission]}
                  </li>
                ))}
              </ul>
            </details>
            <div className="row row-tight">
              <Button size="small" onClick={() => onOpen({ what: 'limits', apiKey })} label={`Limits of ${apiKey.name}`}>
                Limits
              </Button>
              <Button size="small" onClick={() => onOpen({ what: 'rotate', apiKey })} label={`Rotate ${apiKey.name}`}>
                Rotate
              </Button>
              <Button
                size="small"
                variant="danger"
                onClick={() => onOpen({ what: 'revoke', apiKey })}
                label={`Revoke ${apiKey.name}`}
              >
                Revoke
              </Button>
            </div>
          </>
        )}
      </div>
    </div>
  )
}

export const KeysPage = () => {
  const { account } = useSession()
  const [making, setMaking] = useState(false)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const allowed = account.capabilities.api_keys === 'active'
  const create = (
    <Button variant="primary" icon="plus" disabled={!allowed} onClick={() => setMaking(true)}>
      New API key
    </Button>
  )
  return (
    <DevelopersLayout actions={create}>
      <Card flush>
        <Listing
          query={useInfiniteQuery(apiKeysQuery)}
          rows={3}
          empty={
            <Empty icon="key" title="No API key yet" actions={create}>
              A key lets a program act for you in this workspace. Give it only what it needs, and limits of its own.
            </Empty>
          }
        >
          {(keys) => (
            <ul className="rows">
              {keys.map((apiKey) => (
                <li key={apiKey.id}>
                  <KeyRow apiKey={apiKey} onOpen={setOpen} />
                </li>
              ))}
            </ul>
          )}
        </Listing>
      </Card>
      {making && <NewKey onClose={() => setMaking(false)} />}
      {open?.what === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={close} />}
      {open?.what === 'revoke' && <RevokeKey apiKey={open.apiKey} onClose={close} />}
      {open?.what === 'limits' && (
        <EditLimits grant={open.apiKey.grant} title={`Limits of ${open.apiKey.name}`} onClose={close} />
      )}
    </DevelopersLayout>
  )
}
