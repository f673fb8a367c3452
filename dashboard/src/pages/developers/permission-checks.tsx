import { permissions as order, type Permission } from '../../../../src/auth/permissions.ts'
import { isPowerful, wordsOfPermission } from '../../lib/permission-words.ts'
import { CheckField } from '../../ui/field.tsx'
import { Badge } from '../../ui/page.tsx'
import { tAgent } from '../agents/texts.ts'

type Props = { offered: readonly Permission[]; chosen: readonly Permission[]; onChange: (chosen: Permission[]) => void }

/** Permissions in words, in the same order everywhere. A badge marks the ones that move money or change rules. */
export const PermissionChecks = ({ offered, chosen, onChange }: Props) => (
  <fieldset className="stack-s">
    <legend className="visually-hidden">{tAgent('permissions.title')}</legend>
    {order
      .filter((permission) => offered.includes(permission))
      .map((permission) => (
        <CheckField
          key={permission}
          value={chosen.includes(permission)}
          onChange={(on) => onChange(on ? [...chosen, permission] : chosen.filter((other) => other !== permission))}
          label={
            <>
              {wordsOfPermission(permission)}{' '}
              {isPowerful(permission) && (
                <Badge tone="warn" dot={false}>
                  {tAgent('sensitive')}
                </Badge>
              )}
            </>
          }
        />
      ))}
  </fieldset>
)
