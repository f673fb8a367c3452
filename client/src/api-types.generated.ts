/** Written by scripts/api-types.ts from the OpenAPI document. Do not edit. */
export interface paths {
  "/healthz": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Health"]
          }
        }
      }
    }
  }
  "/readyz": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Readiness"]
          }
        }
      }
    }
  }
  "/v1/accounts/me": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AccountWithIdentities"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateAccount"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AccountWithIdentities"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AccountWithIdentities"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/history/summary": {
    get: {
      query?: {
        days?: number
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["HistorySummary"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/history/summary": {
    get: {
      query?: {
        days?: number
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["HistorySummary"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/history": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        type?: ("topup" | "payment_hold" | "payment" | "payment_release" | "payment_return" | "fee" | "separation" | "adjustment")[]
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["HistoryEntryPage"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/history": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        type?: ("topup" | "payment_hold" | "payment" | "payment_release" | "payment_return" | "fee" | "separation" | "adjustment")[]
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceHistoryEntryPage"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/statement": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        from?: string
        to?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Statement"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/statement": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        from?: string
        to?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceStatement"]
          }
        }
      }
    }
  }
  "/v1/request-log": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        grant_id?: string
        request_id?: string
        status?: string
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["LoggedRequestPage"]
          }
        }
      }
    }
  }
  "/v1/credentials/current": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Credential"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/grants": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        kind?: "api_key" | "oauth"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["GrantPage"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/grants/revoke-all": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["RevokeAllGrants"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["GrantList"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/grants/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Grant"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateGrant"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Grant"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Grant"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/api-keys": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateApiKey"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["NewApiKey"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ApiKeyPage"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/api-keys/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ApiKey"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateApiKey"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ApiKey"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ApiKey"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/api-keys/{id}/rotate": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["RotateApiKey"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["NewApiKey"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/identities": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["IdentityPage"]
          }
        }
      }
    }
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["LinkIdentity"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Identity"]
          }
        }
        201: {
          content: {
            "application/json": components["schemas"]["Identity"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["LinkFlow"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/passkeys": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PasskeyPage"]
          }
        }
      }
    }
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreatePasskey"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["Passkey"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/passkeys/options": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PasskeyOptions"]
          }
        }
      }
    }
  }
  "/v1/auth/proof/options": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ProofOptions"]
          }
        }
      }
    }
  }
  "/v1/auth/proof": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ProveSession"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Proven"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/passkeys/{id}": {
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Passkey"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/sessions": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SessionPage"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/identities/{id}": {
    delete: {
      query?: {
        end?: "everything"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["UnlinkedIdentity"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/sessions/{id}": {
    delete: {
      query?: {
        end?: "everything"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["EndedSession"]
          }
        }
      }
    }
  }
  "/v1/auth/google/start": {
    get: {
      query?: {
        return_to?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["LinkFlow"]
          }
        }
      }
    }
  }
  "/v1/auth/google/callback": {
    get: {
      query?: {
        state?: string
        code?: string
        error?: string
      }
      responses: {
        
      }
    }
  }
  "/v1/auth/github/start": {
    get: {
      query?: {
        return_to?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["LinkFlow"]
          }
        }
      }
    }
  }
  "/v1/auth/github/callback": {
    get: {
      query?: {
        state?: string
        code?: string
        error?: string
      }
      responses: {
        
      }
    }
  }
  "/v1/auth/wallet/nonce": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["CreateWalletNonce"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WalletNonce"]
          }
        }
      }
    }
  }
  "/v1/auth/wallet/verify": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["VerifyWallet"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SignedIn"]
          }
        }
      }
    }
  }
  "/v1/auth/logout": {
    post: {
      responses: {
        204: unknown
      }
    }
  }
  "/v1/auth/dashboard-tokens": {
    post: {
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["DashboardToken"]
          }
        }
      }
    }
  }
  "/.well-known/oauth-authorization-server": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthServerMetadata"]
          }
        }
      }
    }
  }
  "/.well-known/oauth-protected-resource": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthResourceMetadata"]
          }
        }
      }
    }
  }
  "/.well-known/oauth-protected-resource/mcp": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthResourceMetadata"]
          }
        }
      }
    }
  }
  "/v1/oauth/authorizations/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthAuthorization"]
          }
        }
      }
    }
  }
  "/v1/oauth/authorizations/{id}/decision": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["OAuthDecision"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthDecided"]
          }
        }
      }
    }
  }
  "/v1/oauth/device/{user_code}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthAuthorization"]
          }
        }
      }
    }
  }
  "/v1/oauth/device/{user_code}/decision": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["OAuthDeviceDecision"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthDecided"]
          }
        }
      }
    }
  }
  "/v1/workspaces": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceViewPage"]
          }
        }
      }
    }
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateWorkspace"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
    put: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["SwitchWorkspace"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateWorkspace"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/freeze": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["FreezeWorkspace"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/unfreeze": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/members": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["MemberPage"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/members/{id}": {
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateMember"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Member"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Member"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/invitations": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateInvitation"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["InvitationWithToken"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["InvitationPage"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/invitations/{id}": {
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Invitation"]
          }
        }
      }
    }
  }
  "/v1/workspaces/invitations/preview": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["PreviewInvitation"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["InvitationPreview"]
          }
        }
      }
    }
  }
  "/v1/workspaces/invitations/accept": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["AcceptInvitation"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/separate-balance": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["SeparateBalance"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SeparationView"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["SeparationView"]
          }
        }
      }
    }
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SeparationView"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SeparationView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/separate-balance/confirm": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ConfirmSeparation"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SeparationView"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/grants": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        kind?: "api_key" | "oauth"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceGrantPage"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/grants/freeze": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["FrozenGrants"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/grants/{id}": {
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["FreezeGrant"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceGrant"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceGrant"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/audit-log": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        action?: string
        actor?: string
        subject_id?: string
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["WorkspaceAuditEntryPage"]
          }
        }
      }
    }
  }
  "/v1/workspaces/current/evidence": {
    get: {
      query?: {
        from?: string
        to?: string
      }
      responses: {
        200: {
          content: {
            "application/zip": components["schemas"]["EvidenceArchive"]
          }
        }
      }
    }
  }
  "/v1/beneficiaries": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateBeneficiary"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["CreatedBeneficiary"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
        payment_rail?: components["schemas"]["Rail"]
        confirmation?: "confirmed" | "proposed"
        verification?: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
        made_by_grant_id?: string
        same_number_as?: string
        q?: string
        metadata?: Record<string, string>
        id?: string[]
        status?: "active" | "all"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["BeneficiaryPage"]
          }
        }
      }
    }
  }
  "/v1/banks": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["BankList"]
          }
        }
      }
    }
  }
  "/v1/beneficiaries/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Beneficiary"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateBeneficiary"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Beneficiary"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Beneficiary"]
          }
        }
      }
    }
  }
  "/v1/beneficiaries/{id}/confirm": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Beneficiary"]
          }
        }
      }
    }
  }
  "/v1/beneficiaries/{id}/verify": {
    post: {
      responses: {
        202: {
          content: {
            "application/json": components["schemas"]["Beneficiary"]
          }
        }
      }
    }
  }
  "/v1/beneficiaries/{id}/verifications": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["NameCheckPage"]
          }
        }
      }
    }
  }
  "/v1/spending-policies": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateSpendingPolicy"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
        made_by_grant_id?: string
        status?: "active" | "all"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SpendingPolicyPage"]
          }
        }
      }
    }
  }
  "/v1/spending-policies/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateSpendingPolicy"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
      }
    }
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
      }
    }
  }
  "/v1/spending-policies/{id}/pending-change/confirm": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ConfirmPolicyChange"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
      }
    }
  }
  "/v1/spending-policies/{id}/pending-change": {
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SpendingPolicy"]
          }
        }
      }
    }
  }
  "/v1/push/key": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PushKey"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/push-subscriptions": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreatePushSubscription"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["PushSubscription"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PushSubscriptionPage"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/push-subscriptions/{id}": {
    delete: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PushSubscription"]
          }
        }
      }
    }
  }
  "/v1/accounts/me/notification-settings": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["NotificationSettings"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UpdateNotificationSettings"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["NotificationSettings"]
          }
        }
      }
    }
  }
  "/v1/notifications/stream": {
    get: {
      query?: {
        type?: ("balance.updated" | "balance.short" | "topup.succeeded" | "topup.failed" | "topup.expired" | "payment.created" | "payment.processing" | "payment.succeeded" | "payment.failed" | "payment.rejected" | "payment.cancelled" | "payment.expired" | "payment.unknown" | "payment.returned" | "payment.late_success" | "payment.refused" | "payment_batch.created" | "payment_batch.processing" | "payment_batch.completed" | "payment_batch.failed" | "payment_batch.rejected" | "payment_batch.expired" | "payment_batch.cancelled" | "approval.requested" | "approval.approved" | "approval.rejected" | "approval.expired" | "approval.cancelled" | "approval.decision_voided" | "mandate.created" | "mandate.exhausted" | "mandate.expired" | "mandate.revoked" | "beneficiary.created" | "beneficiary.updated" | "beneficiary.archived" | "policy.created" | "policy.updated" | "policy.archived" | "policy.change_requested" | "policy.change_withdrawn" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "grant.created" | "grant.updated" | "grant.revoked" | "identity.linked" | "identity.unlinked" | "passkey.added" | "passkey.removed" | "session.created" | "session.revoked" | "member.invited" | "member.joined" | "member.updated" | "member.removed" | "workspace.frozen" | "workspace.unfrozen" | "workspace.updated" | "workspace.separation_requested" | "workspace.separated" | "workspace.separation_withdrawn" | "balance.*" | "topup.*" | "payment.*" | "payment_batch.*" | "approval.*" | "mandate.*" | "beneficiary.*" | "policy.*" | "api_key.*" | "grant.*" | "identity.*" | "passkey.*" | "session.*" | "member.*" | "workspace.*")[]
        last_event_id?: string
      }
      responses: {
        200: {
          content: {
            "text/event-stream": string
          }
        }
      }
    }
  }
  "/v1/notifications": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        type?: ("balance.updated" | "balance.short" | "topup.succeeded" | "topup.failed" | "topup.expired" | "payment.created" | "payment.processing" | "payment.succeeded" | "payment.failed" | "payment.rejected" | "payment.cancelled" | "payment.expired" | "payment.unknown" | "payment.returned" | "payment.late_success" | "payment.refused" | "payment_batch.created" | "payment_batch.processing" | "payment_batch.completed" | "payment_batch.failed" | "payment_batch.rejected" | "payment_batch.expired" | "payment_batch.cancelled" | "approval.requested" | "approval.approved" | "approval.rejected" | "approval.expired" | "approval.cancelled" | "approval.decision_voided" | "mandate.created" | "mandate.exhausted" | "mandate.expired" | "mandate.revoked" | "beneficiary.created" | "beneficiary.updated" | "beneficiary.archived" | "policy.created" | "policy.updated" | "policy.archived" | "policy.change_requested" | "policy.change_withdrawn" | "api_key.created" | "api_key.rotated" | "api_key.revoked" | "grant.created" | "grant.updated" | "grant.revoked" | "identity.linked" | "identity.unlinked" | "passkey.added" | "passkey.removed" | "session.created" | "session.revoked" | "member.invited" | "member.joined" | "member.updated" | "member.removed" | "workspace.frozen" | "workspace.unfrozen" | "workspace.updated" | "workspace.separation_requested" | "workspace.separated" | "workspace.separation_withdrawn" | "balance.*" | "topup.*" | "payment.*" | "payment_batch.*" | "approval.*" | "mandate.*" | "beneficiary.*" | "policy.*" | "api_key.*" | "grant.*" | "identity.*" | "passkey.*" | "session.*" | "member.*" | "workspace.*")[]
        after?: string
        wait_seconds?: number
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["EventPage"]
          }
        }
      }
    }
  }
  "/v1/payment-batches": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: components["schemas"]["PaymentBatchStatus"]
        idempotency_key?: string
        q?: string
        updated_after?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentBatchPage"]
          }
        }
      }
    }
    post: {
      query?: {
        name?: string
        execute_at?: string
        duplicates_intended?: "true" | "false"
        dry_run?: "true" | "false"
      }
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreatePaymentBatch"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentBatchPreview"]
          }
        }
        201: {
          content: {
            "application/json": components["schemas"]["CreatedPaymentBatch"]
          }
        }
      }
    }
  }
  "/v1/payment-batches/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentBatch"]
          }
        }
      }
    }
  }
  "/v1/payment-batches/{id}/lines": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentBatchLines"]
          }
        }
      }
    }
  }
  "/v1/payment-batches/{id}/cancel": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentBatch"]
          }
        }
      }
    }
  }
  "/v1/payment-refusals": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        beneficiary_id?: string
        grant_id?: string
        initiator_account_id?: string
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["RefusedPaymentPage"]
          }
        }
      }
    }
  }
  "/v1/payments/attention": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Attention"]
          }
        }
      }
    }
  }
  "/v1/payments": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreatePayment"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["Payment"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: components["schemas"]["PaymentStatus"][]
        batch_id?: string
        batch_items?: "all" | "first"
        purpose_code?: string
        beneficiary_id?: string
        account_reference?: string
        grant_id?: string
        initiator_account_id?: string
        mandate_id?: string
        idempotency_key?: string
        metadata?: Record<string, string>
        amount_min_minor?: string
        amount_max_minor?: string
        q?: string
        created_after?: string
        created_before?: string
        updated_after?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentPage"]
          }
        }
      }
    }
  }
  "/v1/beneficiaries/{id}/payments": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        account_reference?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentPage"]
          }
        }
      }
    }
  }
  "/v1/payments/summary": {
    get: {
      query?: {
        status?: components["schemas"]["PaymentStatus"][]
        batch_id?: string
        purpose_code?: string
        beneficiary_id?: string
        account_reference?: string
        grant_id?: string
        initiator_account_id?: string
        mandate_id?: string
        idempotency_key?: string
        metadata?: Record<string, string>
        amount_min_minor?: string
        amount_max_minor?: string
        q?: string
        created_after?: string
        created_before?: string
        days?: number
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentTotals"]
          }
        }
      }
    }
  }
  "/v1/payments/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Payment"]
          }
        }
      }
    }
  }
  "/v1/payments/{id}/receipt": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PaymentReceipt"]
          }
        }
      }
    }
  }
  "/v1/payments/{id}/cancel": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Payment"]
          }
        }
      }
    }
  }
  "/.well-known/jwks.json": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["JsonWebKeySet"]
          }
        }
      }
    }
  }
  "/.well-known/audit-log": {
    get: {
      query?: {
        from?: number
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SealedLog"]
          }
        }
      }
    }
  }
  "/v1/spending-policies/simulate": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["Simulate"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Simulation"]
          }
        }
      }
    }
  }
  "/v1/approvals": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: components["schemas"]["ApprovalStatus"]
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ApprovalPage"]
          }
        }
      }
    }
  }
  "/v1/approvals/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Approval"]
          }
        }
      }
    }
  }
  "/v1/approvals/{id}/decide": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["DecideApproval"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Approval"]
          }
        }
      }
    }
  }
  "/v1/approvals/{id}/message": {
    get: {
      query?: {
        decision?: components["schemas"]["ApprovalDecision"]
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SigningMessage"]
          }
        }
      }
    }
  }
  "/v1/approvals/{id}/decide-by-signature": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["DecideApprovalBySignature"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Approval"]
          }
        }
      }
    }
  }
  "/v1/intent-mandates/prepare": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["PrepareMandate"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["PreparedMandate"]
          }
        }
      }
    }
  }
  "/v1/intent-mandates": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateMandate"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["IntentMandate"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: components["schemas"]["MandateStatus"]
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["IntentMandatePage"]
          }
        }
      }
    }
  }
  "/v1/intent-mandates/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["IntentMandate"]
          }
        }
      }
    }
  }
  "/v1/intent-mandates/{id}/message": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["RevocationMessage"]
          }
        }
      }
    }
  }
  "/v1/intent-mandates/{id}/revoke": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["RevokeMandate"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["IntentMandate"]
          }
        }
      }
    }
  }
  "/v1/topups/initiate": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["InitiateTopup"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["Topup"]
          }
        }
      }
    }
  }
  "/v1/topups/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Topup"]
          }
        }
      }
    }
  }
  "/v1/admin/accounts": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        id?: string
        email?: string
        wallet_address?: string
        status?: "active" | "frozen" | "closed"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminAccountPage"]
          }
        }
      }
    }
  }
  "/v1/admin/accounts/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminAccountWithIdentities"]
          }
        }
      }
    }
    patch: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["AdministerAccount"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminAccountWithIdentities"]
          }
        }
      }
    }
  }
  "/v1/admin/workspaces/{id}/suspend": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["SuspendWorkspace"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Workspace"]
          }
        }
      }
    }
  }
  "/v1/admin/workspaces/{id}/reinstate": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["ReinstateWorkspace"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Workspace"]
          }
        }
      }
    }
  }
  "/v1/admin/payments": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: components["schemas"]["PaymentStatus"]
        attention?: "late_success"
        provider_receipt?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminPaymentPage"]
          }
        }
      }
    }
  }
  "/v1/admin/payments/{id}/resolve": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ResolvePayment"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdminPayment"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["AdminPayment"]
          }
        }
      }
    }
  }
  "/v1/admin/adjustments": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["CreateAdjustment"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["Adjustment"]
          }
        }
      }
    }
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: "pending" | "posted" | "rejected" | "cancelled"
        account_id?: string
        workspace_id?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AdjustmentPage"]
          }
        }
      }
    }
  }
  "/v1/admin/adjustments/{id}": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Adjustment"]
          }
        }
      }
    }
  }
  "/v1/admin/adjustments/{id}/confirm": {
    post: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Adjustment"]
          }
        }
      }
    }
  }
  "/v1/admin/adjustments/{id}/reject": {
    post: {
      requestBody?: {
        content: {
          "application/json": components["schemas"]["RejectAdjustment"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Adjustment"]
          }
        }
      }
    }
  }
  "/v1/admin/ledger/trial-balance": {
    get: {
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["TrialBalance"]
          }
        }
      }
    }
  }
  "/v1/admin/suspense": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: "open" | "resolved"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SuspenseItemPage"]
          }
        }
      }
    }
  }
  "/v1/admin/provider-alerts": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: "open" | "resolved"
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ProviderAlertPage"]
          }
        }
      }
    }
  }
  "/v1/admin/provider-alerts/{id}/resolve": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ResolveProviderAlert"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ProviderAlert"]
          }
        }
      }
    }
  }
  "/v1/admin/suspense/resolve": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ResolveSuspenseItems"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SuspenseItems"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["SuspenseItems"]
          }
        }
      }
    }
  }
  "/v1/admin/suspense/{id}/resolve": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ResolveSuspense"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SuspenseItem"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["SuspenseItem"]
          }
        }
      }
    }
  }
  "/v1/admin/suspense/{id}/amount": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["EnterAmount"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SuspenseItem"]
          }
        }
      }
    }
  }
  "/v1/admin/suspense/{id}/assign": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["AssignSuspense"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["SuspenseItem"]
          }
        }
      }
    }
  }
  "/v1/admin/provider-movements": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ProviderMovementPage"]
          }
        }
      }
    }
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["NameMovement"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["ProviderMovement"]
          }
        }
      }
    }
  }
  "/v1/admin/reconciliations": {
    get: {
      query?: {
        limit?: number
        cursor?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ReconciliationPage"]
          }
        }
      }
    }
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["UploadStatement"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["Reconciliation"]
          }
        }
      }
    }
  }
  "/v1/admin/reconciliation-differences": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        status?: "open" | "resolved"
        reconciliation_id?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ReconciliationDifferencePage"]
          }
        }
      }
    }
  }
  "/v1/admin/reconciliation-differences/resolve": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ResolveDifferences"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ReconciliationDifferences"]
          }
        }
      }
    }
  }
  "/v1/admin/reconciliation-differences/{id}/resolve": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["ResolveDifference"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["ReconciliationDifference"]
          }
        }
        202: {
          content: {
            "application/json": components["schemas"]["ReconciliationDifference"]
          }
        }
      }
    }
  }
  "/v1/admin/audit-log": {
    get: {
      query?: {
        limit?: number
        cursor?: string
        account_id?: string
        workspace_id?: string
        subject_id?: string
        action?: string
        created_after?: string
        created_before?: string
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["AuditEntryPage"]
          }
        }
      }
    }
  }
  "/v1/oauth/authorize": {
    get: {
      query?: {
        client_id?: string
        request_uri?: string
        response_type?: string
        redirect_uri?: string
        state?: string
        code_challenge?: string
        code_challenge_method?: string
        response_mode?: string
        prompt?: string
        request?: string
        scope?: string
        resource?: string[]
        authorization_details?: string
      }
      responses: {
        
      }
    }
  }
  "/v1/oauth/token": {
    post: {
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": components["schemas"]["OAuthTokenRequest"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthTokens"]
          }
        }
      }
    }
  }
  "/v1/oauth/revoke": {
    post: {
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": components["schemas"]["OAuthRevocationRequest"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["Revoked"]
          }
        }
      }
    }
  }
  "/v1/oauth/introspect": {
    post: {
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": components["schemas"]["OAuthIntrospectionRequest"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthIntrospection"]
          }
        }
      }
    }
  }
  "/v1/oauth/par": {
    post: {
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": components["schemas"]["OAuthPushRequest"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["OAuthPushedRequest"]
          }
        }
      }
    }
  }
  "/v1/oauth/device_authorization": {
    post: {
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": components["schemas"]["OAuthDeviceRequest"]
        }
      }
      responses: {
        200: {
          content: {
            "application/json": components["schemas"]["OAuthDeviceAuthorization"]
          }
        }
      }
    }
  }
  "/v1/oauth/register": {
    post: {
      requestBody: {
        content: {
          "application/json": components["schemas"]["OAuthClientMetadata"]
        }
      }
      responses: {
        201: {
          content: {
            "application/json": components["schemas"]["OAuthClientRegistration"]
          }
        }
      }
    }
  }
}
export interface components {
  schemas: {
    AcceptInvitation: {
      /** The token from the link of the invitation. */
      token: string
    }
    Account: {
      /** The unique ID. */
      id: string
      /** The status. */
      status: "active" | "frozen" | "closed"
      /** The verified email address; null if there is none. */
      email: string | null
      /** The name that people see. */
      display_name: string | null
      /** The balance of the account’s personal workspace. */
      balance: {
        /** The currency of all amounts (ISO 4217). */
        currency: string
        /** The amount that can be spent now. */
        available_minor: string
        /** The amount reserved for payments in progress. */
        held_minor: string
      }
      /** The capabilities of the account. */
      capabilities: {
        /** Whether the account can top up. */
        topups: "active" | "disabled"
        /** Whether the account can make payments. */
        payments: "active" | "disabled"
        /** Whether API keys can act for the account. */
        api_keys: "active" | "disabled"
        /** Whether OAuth clients can act for the account. */
        oauth: "active" | "disabled"
      }
      /** When it was created. */
      created_at: string
    }
    AccountWithIdentities: {
      /** The unique ID. */
      id: string
      /** The status. */
      status: "active" | "frozen" | "closed"
      /** The verified email address; null if there is none. */
      email: string | null
      /** The name that people see. */
      display_name: string | null
      /** The balance of the account’s personal workspace. */
      balance: {
        /** The currency of all amounts (ISO 4217). */
        currency: string
        /** The amount that can be spent now. */
        available_minor: string
        /** The amount reserved for payments in progress. */
        held_minor: string
      }
      /** The capabilities of the account. */
      capabilities: {
        /** Whether the account can top up. */
        topups: "active" | "disabled"
        /** Whether the account can make payments. */
        payments: "active" | "disabled"
        /** Whether API keys can act for the account. */
        api_keys: "active" | "disabled"
        /** Whether OAuth clients can act for the account. */
        oauth: "active" | "disabled"
      }
      /** When it was created. */
      created_at: string
      /** The sign-in methods. */
      identities: components["schemas"]["Identity"][]
    }
    Adjustment: {
      /** The unique ID. */
      id: string
      /** `balance`: a correction of a balance. `payment_failed` and `late_success_written_off`: an outcome at the cost of the organisation, decided by resolving the payment. */
      kind: "balance" | "payment_failed" | "late_success_written_off"
      /** `pending`: a second administrator must confirm; no money has moved. `cancelled`: the payment ended in another way first, such as by an answer of its rail. */
      status: "pending" | "posted" | "rejected" | "cancelled"
      /** The account whose balance is adjusted. For a team, its owning account. */
      account_id: string
      /** The team whose balance is adjusted; null for an account. */
      workspace_id: string | null
      /** The payment that the adjustment resolves; null for `balance`. */
      payment_id: string | null
      /** `credit` raises the balance of the account, `debit` lowers it. */
      direction: "credit" | "debit"
      /** Minor units (cents) as a decimal string. */
      amount_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** Free-text reason. */
      reason: string
      /** An administrator's account, or `shell:` and a user name. */
      requested_by: string
      /** The administrator who decided it. */
      decided_by: string | null
      /** When it was created. */
      created_at: string
      /** When it was decided. */
      decided_at: string | null
    }
    AdminAccount: {
      /** The unique ID. */
      id: string
      /** The status. */
      status: "active" | "frozen" | "closed"
      /** The verified email address; null if there is none. */
      email: string | null
      /** The name that people see. */
      display_name: string | null
      /** The balance of the account’s personal workspace. */
      balance: {
        /** The currency of all amounts (ISO 4217). */
        currency: string
        /** The amount that can be spent now. */
        available_minor: string
        /** The amount reserved for payments in progress. */
        held_minor: string
      }
      /** The capabilities of the account. */
      capabilities: {
        /** Whether the account can top up. */
        topups: "active" | "disabled"
        /** Whether the account can make payments. */
        payments: "active" | "disabled"
        /** Whether API keys can act for the account. */
        api_keys: "active" | "disabled"
        /** Whether OAuth clients can act for the account. */
        oauth: "active" | "disabled"
      }
      /** When it was created. */
      created_at: string
      /** Whether the account is an administrator of the service, set by command or by ADMIN_ACCOUNTS. */
      is_admin: boolean
      /** When it was last changed. */
      updated_at: string
    }
    AdminAccountWithIdentities: {
      /** The unique ID. */
      id: string
      /** The status. */
      status: "active" | "frozen" | "closed"
      /** The verified email address; null if there is none. */
      email: string | null
      /** The name that people see. */
      display_name: string | null
      /** The balance of the account’s personal workspace. */
      balance: {
        /** The currency of all amounts (ISO 4217). */
        currency: string
        /** The amount that can be spent now. */
        available_minor: string
        /** The amount reserved for payments in progress. */
        held_minor: string
      }
      /** The capabilities of the account. */
      capabilities: {
        /** Whether the account can top up. */
        topups: "active" | "disabled"
        /** Whether the account can make payments. */
        payments: "active" | "disabled"
        /** Whether API keys can act for the account. */
        api_keys: "active" | "disabled"
        /** Whether OAuth clients can act for the account. */
        oauth: "active" | "disabled"
      }
      /** When it was created. */
      created_at: string
      /** Whether the account is an administrator of the service, set by command or by ADMIN_ACCOUNTS. */
      is_admin: boolean
      /** When it was last changed. */
      updated_at: string
      /** The sign-in methods. */
      identities: components["schemas"]["Identity"][]
    }
    AdminPayment: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      status: components["schemas"]["PaymentStatus"]
      /** The amount that the beneficiary receives. */
      amount_minor: string
      /** The fee, charged in addition to the amount when the payment succeeds. It is set when the payment is created; "0" if there is none. */
      fee_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The batch that contains the payment; null for a single payment. */
      batch_id: string | null
      /** When a scheduled payment is evaluated and sent. */
      execute_at: string | null
      /** The index of the payment in its batch, from 0. */
      batch_index: number | null
      /** Only for CSV batches: the row number in the file, as a spreadsheet shows it. */
      batch_row: number | null
      /** The ID of the beneficiary. */
      beneficiary_id: string
      /** The beneficiary, with its name when the payment was created. */
      beneficiary: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
      }
      /** The payment type: the rail, or your own word. */
      payment_type: string
      payment_rail: components["schemas"]["Rail"]
      /** The purpose, as an external purpose code of ISO 20022 such as SALA. */
      purpose_code: string | null
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference: string | null
      /** The purpose, which the approver reads. */
      narrative: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The `Idempotency-Key` of the request that created it. */
      idempotency_key: string | null
      /** The mandate that the payment names; null if none. */
      mandate_id: string | null
      /** The approval of the payment or batch; null if none is needed. */
      approval_id: string | null
      initiated_by: components["schemas"]["Maker"]
      /** The decision that allowed the payment or required approval. */
      decision: components["schemas"]["Decision"]
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The failure code of this service; null unless it failed. The reference of codes lists who must act. */
      failure_code: components["schemas"]["FailureCode"] | null
      /** The reason of the failure, for people; null unless it failed. */
      failure_message: string | null
      /** The rail's own error code. */
      provider_code: string | null
      /** A success that the provider reported after the payment had failed and its hold was released. The status remains `failed`; an administrator books the late success. */
      late_success: {
        /** The provider’s receipt for the late success; null if it reported none. */
        receipt: string | null
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
        /** When the provider reported the success. */
        at: string
      } | null
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When the record reached its final status; null until then. */
      completed_at: string | null
      /** The checks of the outcome. Present only while the payment is `unknown`, when reading one payment or the administrator’s list. */
      outcome_check?: {
        /** When the rail was last asked for the outcome. */
        last_at: string | null
        /** When the rail will be asked next; null if only a person can resolve the payment. */
        next_at: string | null
      }
      /** The owning account of the workspace. */
      account_id: string
      /** How a late success was booked: the account was charged, or the amount was written off. Null until it is booked. */
      late_success_resolution: "charged" | "written_off" | null
      /** The pending adjustment for an outcome at the cost of the organisation. A second administrator confirms it by resolving the payment in the same way. */
      waiting_adjustment_id: string | null
    }
    AdministerAccount: {
      /** The new status. */
      status?: "active" | "frozen" | "closed"
      /** The capabilities to switch on or off. */
      capabilities?: {
        /** Whether the account can top up. */
        topups?: "active" | "disabled"
        /** Whether the account can make payments. */
        payments?: "active" | "disabled"
        /** Whether API keys can act for the account. */
        api_keys?: "active" | "disabled"
        /** Whether OAuth clients can act for the account. */
        oauth?: "active" | "disabled"
      }
      /** Free-text reason. */
      reason?: string
    }
    ApiKey: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The name. */
      name: string
      /** The first characters of the key, to identify it. They are not secret. */
      key_prefix: string
      /** The last four characters of the key. */
      last_four: string
      /** The status. */
      status: "active" | "revoked" | "expired"
      /** The permissions. */
      permissions: components["schemas"]["Permission"][]
      /** The grant, with its permissions, limits and usage. */
      grant: components["schemas"]["Grant"]
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
      /** When it expires; null for never. */
      expires_at: string | null
      /** When the key stops working; in the future while it overlaps with its successor. */
      revoked_at: string | null
    }
    Approval: {
      /** The unique ID. */
      id: string
      status: components["schemas"]["ApprovalStatus"]
      /** The payment to decide; null for a batch. */
      payment: components["schemas"]["PaymentSummary"] | null
      /** The batch to decide as a whole; null for a single payment. */
      batch: components["schemas"]["PaymentBatchSummary"] | null
      /** The number of required approvals. */
      required_approvals: number
      /** The number of approvals that count so far. */
      approvals_given: number
      /** Whether the requester is barred from approving. */
      separation_of_duties: boolean
      /** The only accounts that can decide, if policies name any. Null means everyone with a suitable role. */
      approver_ids: string[] | null
      /** `signature`: only approvals signed by a passkey or a wallet count. */
      approval_proof: "any" | "signature"
      /** The warnings in the text to sign, by type. Approvers must see all of them before deciding. */
      facts: components["schemas"]["ApprovalFact"][]
      /** The decisions so far, in order. */
      decisions: ({
        /** The ID of the account. */
        account_id: string
        decision: components["schemas"]["ApprovalDecision"]
        /** How the decision was made: with a credential, a signature or a passkey. */
        via: "credential" | "signature" | "passkey"
        /** Free-text reason; null if none was given. */
        reason: string | null
        /** The wallet that signed; null for a decision with a credential. */
        signer: string | null
        /** When it was decided. */
        decided_at: string
        /** When the decision stopped counting. The account can no longer decide or decided otherwise, or its wallet, passkey or mandate ended. Or the text changed because of a new registered name. */
        voided_at: string | null
      })[]
      /** The emails and push notifications about the approval and the accounts that opened it, oldest first. Present only when reading a single approval. */
      notifications?: components["schemas"]["ApprovalNotification"][]
      /** The messages to sign, byte for byte. */
      signing: {
        /** The text to sign to approve. */
        approve: string
        /** The text to sign to reject. */
        reject: string
      }
      /** When it expires. */
      expires_at: string
      /** When it was created. */
      created_at: string
      /** The context for the decision. In a list, present only while the approval is pending. */
      context?: components["schemas"]["ApprovalContext"]
      /** The decision that current rules and usage would give now. Present only when reading a pending approval of a single payment. `payment.decision` is the decision that required the approval. */
      decision_now?: components["schemas"]["Decision"]
      /** The error that approving would return now, because of a freeze or a disabled capability. Stops of the beneficiary and of the requester refuse only the last required approval. Present only while the approval is pending. Rejecting is still possible. In lists, only freezes of your account and of the workspace are reported. */
      refusal_now?: {
        /** The error code, such as `beneficiary_frozen` or `workspace_frozen`. */
        error: string
        /** The text, for people. */
        message: string
      }
    }
    ApprovalContext: {
      /** Information about the beneficiary; null for a batch. */
      payee: {
        /** The number of successful payments from this workspace to this destination. */
        payments_count: number
        /** When the destination was last paid; null if never. */
        last_paid_at: string | null
        /** The median amount of the last nine payments; null if fewer than three. */
        typical_amount_minor: string | null
        /** The last check of the name against the registered name. */
        verification: components["schemas"]["Verification"]
      } | null
      /** The warnings of the decision, and anything unusual about the payment. */
      warnings: ({
        /** The code of the warning. */
        code: "possible_duplicate"
        /** The ID of the payment. */
        payment_id: string
        /** When it was created. */
        created_at: string
      } | {
        /** A key or an agent created the beneficiary, or its name was changed recently, and no person has confirmed it since. */
        code: "new_payee" | "changed_payee"
        by: components["schemas"]["Maker"]
        /** When the earlier payment was created. */
        at: string
      } | {
        /** The unpaid beneficiary’s name resembles that of a paid one with another number. */
        code: "similar_name"
        /** The ID of the beneficiary. */
        beneficiary_id: string
        /** The name that the warning is about. */
        name: string
      } | {
        /** The name in the request differs from the name of the paid beneficiary. */
        code: "name_differs"
        /** The name that the warning is about. */
        name: string
        /** The name in the request. */
        given_name: string
      } | {
        /** The rail has not confirmed the name of the beneficiary. */
        code: "name_mismatch"
        /** The result of comparing the name with the registered name. */
        verification: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
        /** The name that the rail reports. */
        name: string | null
      } | {
        /** The amount is more than five times the usual amount for the beneficiary. */
        code: "unusual_amount"
        /** Minor units (cents) as a decimal string. */
        typical_amount_minor: string
      } | {
        /** This is the first payment from this workspace to this destination. */
        code: "first_payment"
      } | {
        /** The payment was requested before the database lost writes and may already have been sent, so the provider could pay it twice. If approved, it is not sent: its outcome is `unknown` until an administrator has checked the provider statement. */
        code: "may_have_been_sent"
        /** The number of affected payments in the batch; 1 for a single payment. */
        payments_count: number
      })[]
      /** The available balance after this payment, or after all payments of the batch; null if the caller may not see the balance. Scheduled payments hold no money yet, so this is today’s balance minus their amount, which can be negative. */
      available_after_minor: string | null
      /** Members who can still decide this approval. If it requires signatures, only those with a passkey or a wallet. */
      eligible_approvers: string[]
    }
    ApprovalFact: {
      /** The type of the fact. The most severe facts come first. */
      type: "may_have_been_sent" | "name_mismatch" | "shared_number" | "name_differs" | "similar_name" | "unusual_amount" | "far_from_last" | "possible_duplicate" | "changed_payee" | "new_payee" | "first_payment" | "name_unconfirmed" | "name_close" | "name_match"
      /** `danger` and `warning` come first. Facts about all payments of a batch are `info`. */
      level: "danger" | "warning" | "info"
      /** The number of payments of a batch, or of beneficiaries by name; 1 for a single payment. */
      count: number
      /** Up to ten affected items; empty for `info`. */
      items: ({
        /** The index in the batch; null for a single payment and for names. */
        index: number | null
        /** The name of the beneficiary. */
        beneficiary: string
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
        /** The name that the rail reports or the CSV file contains, or the name of the similar beneficiary, key or agent. */
        name: string | null
        /** The usual amount or the last amount. */
        other_amount_minor: string | null
        /** When the earlier payment or the change was made. */
        at: string | null
        /** The earlier payment that this one looks like. */
        payment_id: string | null
      })[]
    }
    ApprovalNotification: {
      /** The ID of the account. */
      account_id: string
      /** `mail_refused`: the address rejected the email. `opened`: the person read the approval while it was pending. */
      event: "mailed" | "mail_refused" | "pushed" | "opened"
      /** When it happened. */
      at: string
    }
    AssignSuspense: {
      /** An ID that begins with `acc_`. */
      account_id?: string
      /** The workspace whose balance is credited. */
      workspace_id?: string
      /** The top-up that the payer meant; its account is credited. */
      topup_id?: string
      /** The administrator’s note. */
      note: string
    }
    Attention: {
      /** The currency of all amounts. */
      currency: string
      /** Payments that were sent or are being sent, for each of the last 30 days, oldest first. A payment belongs to the day whose limits count it. */
      by_day: {
        /** A day in the workspace’s time zone. */
        date: string
        /** The number of payments. */
        count: number
        /** The amount spent on that day. */
        amount_minor: string
      }[]
      /** Items that a person should look at, the most urgent first. */
      needs: ({
        /** The balance does not cover the scheduled payments. */
        kind: "balance_short"
        shortage: components["schemas"]["BalanceShortageNeed"]
      } | {
        /** The rail has not reported whether the money moved. */
        kind: "unknown_payments"
        /** The number of payments. */
        count: number
        /** The amount that remains held for them. */
        amount_minor: string
        /** The oldest of these payments. */
        payment_id: string
      } | {
        /** The same beneficiary was paid the same amount repeatedly. */
        kind: "repeated_payments"
        /** The number of payments. */
        count: number
        /** The beneficiary. */
        beneficiary: {
          /** The ID of the beneficiary. */
          id: string
          /** The current name of the beneficiary. */
          display_name: string
        }
        /** The amount of each payment. */
        amount_minor: string
        by: components["schemas"]["Maker"]
        /** When the first of these payments was made. */
        first_at: string
        /** When the last of these payments was made. */
        last_at: string
      } | {
        /** Payments were requested and refused. */
        kind: "refused_payments"
        /** The number of payments. */
        count: number
        by: components["schemas"]["Maker"]
        /** The most recent one. */
        last: {
          /** The ID of the refused payment. No payment was created. */
          id: string
          /** The requested amount in minor units (cents). For a batch, the total. */
          amount_minor: string
          /** The reason, for people. It never states the balance. */
          message: string
          /** When the payment was refused. */
          created_at: string
          /** The beneficiary. */
          beneficiary: {
            /** The ID of the beneficiary. */
            id: string
            /** The current name of the beneficiary. */
            display_name: string
          } | null
        }
      } | {
        /** The rail reports another name for the number of a beneficiary. */
        kind: "names_differ"
        /** The number of beneficiaries. */
        count: number
        /** The most recent one. */
        beneficiary: {
          /** The ID of the beneficiary. */
          id: string
          /** The current name of the beneficiary. */
          display_name: string
        }
        /** The name that the rail reports for the number. */
        reported_name: string | null
      } | {
        /** At least 80% of a policy limit is used. */
        kind: "limit_nearly_used"
        /** The policy. */
        policy_id: string
        /** The name of the policy. */
        name: string
        /** The period in the workspace’s time zone; `total` has none. */
        period: "day" | "month" | "total"
        /** The used amount of the limit. */
        used_minor: string
        /** The limit. */
        limit_minor: string
      } | {
        /** Money that arrived could not be booked to an account. */
        kind: "deposits_in_suspense"
        /** The number of deposits and top-ups. */
        count: number
        /** The total of the known amounts. */
        amount_minor: string
        /** When the oldest item was recorded. */
        oldest_at: string
      })[]
    }
    AuditEntry: {
      /** The unique ID. */
      id: string
      action: components["schemas"]["AuditAction"]
      /** The account that acted; null for the service and the server shell. */
      account_id: string | null
      /** The credential that was used. */
      credential: {
        /** The kind. */
        kind: string
        /** The unique ID. */
        id: string | null
      } | null
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The name of the key or agent that acted. */
      grant_label: string | null
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource that the action changed. */
      subject: {
        /** The kind. */
        type: string
        /** The unique ID. */
        id: string
      } | null
      /** The state before the action. */
      before: unknown
      /** The state after the action. */
      after: unknown
      /** The IP address of the request; null if unknown. */
      ip: string | null
      /** The user agent of the browser or program; null if unknown. */
      user_agent: string | null
      /** The `X-Request-Id` of the request; null if there was no request. */
      request_id: string | null
      /** When it was created. */
      created_at: string
    }
    AuditLogHead: {
      /** The number of seals in the log. */
      size: number
      /** The Merkle root of the seals. */
      root: string
      /** When the head was sealed. */
      sealed_at: string
      /** A detached JWS (EdDSA, typ `audit-log-head`) over the RFC 8785 form of {issuer, root, sealed_at, size}, signed by a key in /.well-known/jwks.json. */
      jws: string
    }
    AuditRowProof: {
      /** The sealed audit row: its columns as a JSON array. The change, the IP address and the browser are included as one hash. */
      line: string
      /** The position, from 0. */
      index: number
      /** The number of rows in the seal. `index` is the position of this row. */
      rows: number
      /** The audit path from the leaf to the root (RFC 6962). */
      path: string[]
      /** The position of the seal in the log, from 0. */
      seal: number
      /** The Merkle root of the rows in the seal, which is a leaf of the log. */
      rows_root: string
      /** The audit path from the leaf to the root (RFC 6962). */
      seal_path: string[]
    }
    BalanceShortageNeed: {
      /** The ID of the workspace. */
      workspace_id: string
      /** The amount missing from the balance; null if the caller may not see the balance. */
      missing_minor: string | null
      /** The amount due within two days, including fees. */
      scheduled_minor: string
      /** When the balance first becomes too low. */
      due_at: string
    }
    Bank: {
      /** The value for `bank_code`. */
      code: string
      /** The name. */
      name: string
    }
    BankList: {
      /** The items of this page. */
      data: components["schemas"]["Bank"][]
    }
    BeganHere: {
      /** Sign-in methods linked there. `end=everything` unlinks them. */
      identities: components["schemas"]["Identity"][]
      /** Passkeys that could approve payments. */
      passkeys: components["schemas"]["Passkey"][]
      /** API keys created there. `end=everything` revokes them. */
      api_keys: components["schemas"]["ApiKey"][]
      /** Grants of these keys, and of agents authorized there. */
      grants: components["schemas"]["Grant"][]
      /** Invitations sent there. Accepted ones appear in `members`. */
      invitations: components["schemas"]["Invitation"][]
      /** Members who joined through these invitations, or through invitations by such members. `end=everything` suspends them. */
      members: components["schemas"]["Member"][]
      /** Members whose role was raised or whose suspension was lifted. `end=everything` reverts this. */
      roles: components["schemas"]["RaisedMember"][]
      /** Workspaces created there. `end=everything` freezes them. */
      workspaces: components["schemas"]["Workspace"][]
      /** Older grants that were widened or unfrozen. `end=everything` freezes them. */
      widened: components["schemas"]["Grant"][]
      /** Policies that are or will be looser. A person can revert this with the request in `undo`. */
      loosened: components["schemas"]["LoosenedPolicy"][]
    }
    Beneficiary: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The kind. */
      type: string
      /** The name that people see. */
      display_name: string
      /** The legal name, which is compared with the registered name; null if none was given. */
      legal_name: string | null
      payment_rail: components["schemas"]["Rail"]
      /** The last characters of the destination, which is never returned in full. */
      destination_mask: string
      /** Whether each payment must have a reference. */
      account_reference_required: boolean
      /** The fixed account at the paybill that every payment uses. */
      account_reference: string | null
      /** The code of the bank, for an account number; one of `GET /v1/banks`. */
      bank_code: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The status. */
      status: "active" | "frozen" | "archived"
      /** `proposed`: a key or an agent created or renamed the beneficiary, and no person has confirmed it since. Payments to it by a key or an agent need approval, unless `new_payees` in the limits says otherwise. */
      confirmation: "confirmed" | "proposed"
      /** The last check of the name against the registered name. */
      verification: components["schemas"]["Verification"]
      created_by: components["schemas"]["Maker"]
      /** The person, key or agent that last changed the name. */
      changed_by: components["schemas"]["Maker"] | null
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
    }
    ConfirmPolicyChange: {
      /** An assertion of one of your passkeys, with user verification. The challenge is the SHA-256 of `pending_change.message`. */
      passkey?: components["schemas"]["PasskeyAssertion"]
      /** The signature of a linked wallet over `pending_change.message`. */
      signature?: string
      /** The wallet that signed. Required only for contract wallets. */
      address?: string
      /** The SHA-256 of the `pending_change.message` that was shown, in hexadecimal. If the text has changed since, the confirmation is refused: 409, reason `message_changed`. */
      message_digest?: string
    }
    ConfirmSeparation: {
      /** An assertion of one of your passkeys, with user verification. The challenge is the SHA-256 of `pending_separation.message`. */
      passkey?: components["schemas"]["PasskeyAssertion"]
      /** The signature of a linked wallet over `pending_separation.message`. */
      signature?: string
      /** The wallet that signed. Required only for contract wallets. */
      address?: string
      /** The SHA-256 of the `pending_separation.message` that was shown, in hexadecimal. If the text has changed since, the confirmation is refused: 409, reason `message_changed`. */
      message_digest?: string
    }
    CreateAdjustment: {
      /** An ID that begins with `acc_`. */
      account_id?: string
      /** The team whose balance is adjusted, instead of `account_id`. */
      workspace_id?: string
      /** `credit` raises the balance of the account, `debit` lowers it. */
      direction: "credit" | "debit"
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor: string
      /** Free-text reason. */
      reason: string
    }
    CreateApiKey: {
      /** The name. */
      name: string
      /** Defaults to the permissions of the caller, without those that only a person should have. */
      permissions?: components["schemas"]["Permission"][]
      /** The limits: amounts, beneficiaries, and when a person must approve. */
      spending_controls?: {
        /** The maximum amount of one payment. If absent, this grant has no such limit. */
        per_payment_limit_minor?: string | null
        /** The maximum total of its payments in one day, in the workspace's time zone. If absent, this grant has no such limit. */
        daily_limit_minor?: string | null
        /** The maximum total of its payments in one month, in the workspace's time zone. If absent, this grant has no such limit. */
        monthly_limit_minor?: string | null
        /** The maximum total of all its payments since the grant was created, for a single job. It never resets; only a person can raise it. If absent, this grant has no such limit. */
        total_limit_minor?: string | null
        /** Payments of this amount or more need an approval. If absent, this grant has no such limit. */
        approval_threshold_minor?: string | null
        /** The allowed payment types or rails. */
        payment_types?: string[] | null
        /** The allowed beneficiaries. */
        beneficiary_ids?: string[] | null
        /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. Defaults to `require_approval`. */
        new_payees?: components["schemas"]["Outcome"] | null
        /** The outcome for payments with the same payee, amount and reference as an earlier one. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. If absent, this grant has no such rule. Agents that a person approves by OAuth get `confirm`. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      }
      /** When it expires. */
      expires_at?: string
    }
    CreateBeneficiary: {
      /** The kind. */
      type: string
      /** The name that people see. */
      display_name: string
      payment_rail: components["schemas"]["Rail"]
      /** MPESA_B2B: a paybill or till of 5 to 7 digits. MPESA_B2C: a Kenyan mobile number. PESALINK: an account number with bank_code, or a mobile number without. */
      destination: string
      /** The legal name, which is compared with the registered name; null if none was given. */
      legal_name?: string | null
      /** Whether each payment must have an account reference. For a paybill whose bills have different account numbers. */
      account_reference_required?: boolean
      /** A fixed account at the paybill. It is part of the destination: every payment uses it, and payments with another reference are refused. */
      account_reference?: string | null
      /** The bank code of a bank account, from `GET /v1/banks`. */
      bank_code?: string | null
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
    }
    CreateInvitation: {
      role: components["schemas"]["Role"]
      /** The email address to invite. */
      email?: string
      /** The wallet of the person: an address, or `eip155:<chain>:<address>` for a contract wallet on that chain. */
      wallet_address?: string
    }
    CreateMandate: {
      /** The address of the wallet. */
      address: string
      /** The terms of the mandate. */
      terms: {
        /** The ID of the workspace; null if the record belongs only to the account. */
        workspace_id?: string | null
        /** The grant of the API key or agent; null for a person. */
        grant_id?: string | null
        /** The purpose, in words. */
        description: string
        /** Minor units (cents) as a decimal string, above 0. */
        max_total_minor: string
        /** The maximum amount of one payment, in minor units; null for no limit. */
        max_per_payment_minor?: string | null
        /** The maximum number of payments; null for no limit. */
        max_payments?: number | null
        /** The only beneficiaries allowed; empty or absent for any. */
        beneficiary_ids?: string[] | null
        /** The only payment types or rails allowed; empty or absent for any. */
        payment_types?: string[] | null
        /** When it becomes valid. */
        valid_from?: string | null
        /** When it expires. */
        expires_at: string
      }
      /** The nonce of the prepared text. */
      nonce: string
      /** An EIP-191 `personal_sign` signature of the unchanged message. */
      signature: string
    }
    CreatePasskey: {
      /** A name such as "My phone". */
      name: string
      credential: components["schemas"]["PasskeyRegistration"]
    }
    CreatePaymentBatch: {
      /** An earlier batch of the workspace to pay again. Each item keeps its beneficiary, amount, reference, narrative and purpose; `items` contains only the changes. Items with an archived or frozen beneficiary are refused by name; leave them out with `omit`. */
      again?: string
      /** The items to pay. Required without `again`; with `again`, only the changes. */
      items?: (components["schemas"]["RepeatedBatchItem"] | components["schemas"]["PaymentBatchItem"])[]
      /** The name. */
      name?: string | null
      /** When the payment is evaluated and sent, up to 90 days from now. Until then it is `scheduled`, holds no money and can be cancelled. A required approval is requested immediately. */
      execute_at?: string | null
      /** Set to `true` if items intentionally look like payments of the last 72 hours or like each other. Otherwise such a batch fails with 409 and `reason: "possible_duplicate"`, which lists the items and the earlier payments. Nothing is created. */
      duplicates_intended?: boolean
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
    }
    CreatePayment: {
      /** An ID that begins with `ben_`. */
      beneficiary_id: string
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor: string
      /** Defaults to the rail of the beneficiary. */
      payment_type?: string
      /** The purpose, as an external purpose code of ISO 20022 such as SALA. */
      purpose_code?: string | null
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference?: string | null
      /** The purpose, which the approver reads. */
      narrative?: string | null
      /** The mandate that the payment names; null if none. */
      mandate_id?: string | null
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
      /** The earlier payment that this one intentionally repeats. Without it, the request may fail with 409 and `reason: "possible_duplicate"`. */
      duplicate_of?: string | null
      /** The outcome if this payment looks like an earlier one, in addition to the rules of policies and the credential. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. */
      on_duplicate?: "warn" | "confirm" | "require_approval" | "deny"
      /** When the payment is evaluated and sent, up to 90 days from now. Until then it is `scheduled`, holds no money and can be cancelled. A required approval is requested immediately. */
      execute_at?: string | null
    }
    CreatePushSubscription: {
      /** The endpoint at the push service, as the browser provides it. */
      endpoint: string
      /** Sent by browsers; ignored. */
      expirationTime?: number | null
      /** The keys of the subscription, as the browser made them (Push API). */
      keys: {
        /** The public key of the browser. */
        p256dh: string
        /** The 16-byte secret of the browser. */
        auth: string
      }
    }
    CreateSpendingPolicy: {
      /** The name. */
      name: string
      /** The policy applies to payments of these types or rails. An empty list means every type. */
      payment_types?: string[] | null
      /** The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary. */
      beneficiary_ids?: string[] | null
      /** The maximum amount of one payment. */
      per_payment_limit_minor?: string | null
      /** The maximum total of all payments in one day, in the workspace's time zone. */
      daily_limit_minor?: string | null
      /** The maximum total of all payments in one month, in the workspace's time zone. */
      monthly_limit_minor?: string | null
      /** The maximum total of all payments since a version of the policy first set this limit. It never resets, even if the limit changes. */
      total_limit_minor?: string | null
      /** Payments of this amount or more need approval. */
      approval_threshold_minor?: string | null
      /** The number of required approvals. Without `approval_threshold_minor`, they are required for every payment. Defaults to 1 with a threshold, otherwise to 0. */
      required_approval_count?: number | null
      /** The initiator of a payment may not approve it. */
      separation_of_duties?: boolean | null
      /** The approvals that count: `any`, or `signature` for only those signed by a passkey or a wallet. It applies to every approval that such a payment needs. */
      approval_proof?: "any" | "signature" | null
      /** The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy. */
      approver_ids?: string[] | null
      /** How many seconds back the service looks for a payment of the same amount and reference to the same payee. If null with `on_duplicate`, the window of the service applies. */
      duplicate_window_seconds?: number | null
      /** The outcome for payments that look like an earlier one within the window. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. Null with a window means `warn`. */
      on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. */
      new_payees?: components["schemas"]["Outcome"] | null
      /** The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ. */
      payee_verification?: "off" | "warn" | "require_approval" | "deny" | null
    }
    CreateWalletNonce: {
      /** The address of the wallet. */
      address?: string
      /** The chain of the wallet. */
      chain_id?: number
      /** `sign_in` ignores and replaces the current session. `link` adds the wallet to the account of the session, which is required. A message for one intent is rejected for the other. If omitted, `link` applies if there is a session, otherwise `sign_in`. */
      intent?: "sign_in" | "link"
    }
    CreateWorkspace: {
      /** The name. */
      name: string
      /** The IANA time zone that decides when a day and a month begin. */
      time_zone?: string
    }
    CreatedBeneficiary: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The kind. */
      type: string
      /** The name that people see. */
      display_name: string
      /** The legal name, which is compared with the registered name; null if none was given. */
      legal_name: string | null
      payment_rail: components["schemas"]["Rail"]
      /** The last characters of the destination, which is never returned in full. */
      destination_mask: string
      /** Whether each payment must have a reference. */
      account_reference_required: boolean
      /** The fixed account at the paybill that every payment uses. */
      account_reference: string | null
      /** The code of the bank, for an account number; one of `GET /v1/banks`. */
      bank_code: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The status. */
      status: "active" | "frozen" | "archived"
      /** `proposed`: a key or an agent created or renamed the beneficiary, and no person has confirmed it since. Payments to it by a key or an agent need approval, unless `new_payees` in the limits says otherwise. */
      confirmation: "confirmed" | "proposed"
      /** The last check of the name against the registered name. */
      verification: components["schemas"]["Verification"]
      created_by: components["schemas"]["Maker"]
      /** The person, key or agent that last changed the name. */
      changed_by: components["schemas"]["Maker"] | null
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** The newest five active or frozen beneficiaries with the same number or account. Limits, freezes and lists of beneficiaries apply to all of them. Empty if the caller cannot read beneficiaries. */
      warnings: {
        /** The code of the warning. */
        code: "same_number"
        /** The ID of the beneficiary. */
        beneficiary_id: string
        /** The name that people see. */
        display_name: string
        /** The text of the warning, for people. */
        message: string
      }[]
    }
    CreatedPaymentBatch: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The name. */
      name: string | null
      status: components["schemas"]["PaymentBatchStatus"]
      /** The number of payments. */
      items_count: number
      /** The total amount, without fees. */
      total_minor: string
      /** The total fees. */
      fees_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The Merkle root of the items in their order (RFC 6962), in hexadecimal. An approval of the batch approves exactly these items. */
      merkle_root: string
      /** The number of items in each status: scheduled, pending_approval, processing, succeeded, failed, unknown, rejected, expired, cancelled, returned. Statuses without items are omitted. */
      counts: Record<string, number>
      /** When a scheduled batch is evaluated and sent. */
      execute_at: string | null
      /** The earlier batch that this one repeats. */
      again_of: string | null
      /** The approval of the payment or batch; null if none is needed. */
      approval_id: string | null
      /** Who requested it: the account and, for a key or an agent, its grant. */
      initiated_by: {
        /** The ID of the account. */
        account_id: string
        /** The grant of the API key or agent; null for a person. */
        grant_id: string | null
      }
      /** The `Idempotency-Key` of the request that created it; null if it had none. */
      idempotency_key: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When the record reached its final status; null until then. */
      completed_at: string | null
      /** Warnings about the whole batch. Absent if release 0.4.0 or earlier created it. */
      warnings?: {
        /** The code of the warning. */
        code: "columns_ignored"
        /** The text of the warning, for people. */
        message: string
      }[]
    }
    Credential: {
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The role of the account in the workspace; null if it is no longer a member. */
      role: components["schemas"]["Role"] | null
      /** The permissions of the account and role, limited to those of the grant. */
      permissions: components["schemas"]["Permission"][]
      /** Whether the account is an administrator of the service. */
      is_admin: boolean
      /** The grant of the key or agent; null for a person in their own session. */
      grant: components["schemas"]["Grant"] | null
      /** The remaining amount under the strictest limit of the grant, its parent grants and the policies that apply to every payment. Policies for certain beneficiaries or types may allow less: use the simulation. Without an active membership, only the limits of the grants count. */
      headroom: {
        /** The amount for one payment, in minor units; null for no limit. */
        per_payment_minor: string | null
        /** The amount for the current day, in minor units; null for no limit. */
        today_minor: string | null
        /** The amount for the current month, in minor units; null for no limit. */
        month_minor: string | null
        /** The total amount, in minor units; null for no limit. */
        total_minor: string | null
        /** Payments of this amount or more need an approval. */
        approval_from_minor: string | null
      }
      /** When the credential expires. */
      expires_at: string | null
    }
    DashboardToken: {
      /** The token, shown only once. Replays with the same Idempotency-Key omit it. */
      token?: string
      /** The type of the token: `Bearer`. */
      token_type: "Bearer"
      /** The number of seconds until it expires. */
      expires_in: number
    }
    DecideApprovalBySignature: {
      decision: components["schemas"]["ApprovalDecision"]
      /** The signature. */
      signature: string
      /** The wallet that signed. Required only for contract wallets. */
      address?: string
      /** Free-text reason; null if none was given. */
      reason?: string | null
    }
    DecideApproval: {
      decision: components["schemas"]["ApprovalDecision"]
      /** Free-text reason; null if none was given. */
      reason?: string | null
      /** The SHA-256 of the text that was shown, `signing.approve` or `signing.reject`, in hexadecimal. If the text has changed since, the decision is rejected with 409, reason `message_changed`. */
      message_digest?: string
      /** An assertion of one of your passkeys, with user verification. The challenge is the SHA-256 of the canonical text, `signing.approve` or `signing.reject`. */
      passkey?: components["schemas"]["PasskeyAssertion"]
    }
    Decision: {
      outcome: components["schemas"]["Outcome"]
      /** An explanation for people, in one sentence. It names the first rule that refused the payment, or the rule that requires the most approvals. */
      explanation: string
      /** The number of required approvals. */
      required_approvals: number
      /** Whether the requester is barred from approving. */
      separation_of_duties: boolean
      /** The approvals that count: `any`, or only those with a `signature`. */
      approval_proof: "any" | "signature"
      /** The only accounts whose approvals count; absent for all approvers. */
      approver_ids?: string[]
      /** The number of approvals that the mandate gives: 0 or 1. */
      approvals_by_mandate: number
      /** The policies that applied, each in the version that decided. */
      policy_versions: {
        /** The unique ID. */
        id: string
        /** The version of the policy that decided. */
        version: number
      }[]
      /** Warnings that do not refuse the payment. */
      warnings: ({
        /** The code of the warning. */
        code: "possible_duplicate"
        /** The ID of the payment. */
        payment_id: string
        /** When it was created. */
        created_at: string
      } | {
        /** A key or an agent created the beneficiary, or its name was changed recently, and no person has confirmed it since. */
        code: "new_payee" | "changed_payee"
        by: components["schemas"]["Maker"]
        /** When the earlier payment was created. */
        at: string
      } | {
        /** The unpaid beneficiary’s name resembles that of a paid one with another number. */
        code: "similar_name"
        /** The ID of the beneficiary. */
        beneficiary_id: string
        /** The name that the warning is about. */
        name: string
      } | {
        /** The name in the request differs from the name of the paid beneficiary. */
        code: "name_differs"
        /** The name that the warning is about. */
        name: string
        /** The name in the request. */
        given_name: string
      } | {
        /** The rail has not confirmed the name of the beneficiary. */
        code: "name_mismatch"
        /** The result of comparing the name with the registered name. */
        verification: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
        /** The name that the rail reports. */
        name: string | null
      } | {
        /** The amount is more than five times the usual amount for the beneficiary. */
        code: "unusual_amount"
        /** Minor units (cents) as a decimal string. */
        typical_amount_minor: string
      })[]
      /** The number of evaluated rules. */
      rules_considered?: number
      /** The rules in the order of evaluation. If there are more than 50, only the decisive rules and those closest to their limit. Omitted in lists and events. */
      trace?: ({
        /** The source of the rule. */
        source: {
          /** The kind of rule: a policy, a grant, a mandate, a capability or a rail. */
          kind: "policy" | "grant" | "mandate" | "capability" | "rail"
          /** The unique ID. */
          id: string | null
          /** The name. */
          name: string | null
        }
        rule: components["schemas"]["Rule"]
        outcome: components["schemas"]["Outcome"]
        /** Minor units (cents) as a decimal string. */
        limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        used_minor?: string
        /** Minor units (cents) as a decimal string. */
        requested_minor?: string
        /** When the usage resets to 0. */
        resets_at?: string
        /** The number of required approvals. */
        required_approvals?: number
        /** The number of people who can approve. */
        eligible_approvers?: number
        /** The only accounts whose approvals count. */
        approver_ids?: string[]
        /** Only approvals signed by a passkey or wallet count. */
        approval_proof?: "signature"
        /** Whether this rule decided the outcome. */
        decisive?: boolean
      })[]
      /** The smallest change that would let the payment pass. A denied payment passes if it is no longer denied: it may then need an approval. A payment that is not denied passes if it needs no approval. */
      remedy?: {
        /** The largest amount that would not be denied now if nothing else changed. It may need an approval. Null if there is none, or only one below an approval threshold that the requested amount reaches. */
        max_amount_minor: string | null
        /** The number of rules that must change for the payment to pass. */
        changes_count: number
        /** The rules that must change, up to 50. All rules counted in `changes_count` must change. */
        changes: ({
          /** The source of the rule. */
          source: {
            /** The kind of rule: a policy, a grant, a mandate, a capability or a rail. */
            kind: "policy" | "grant" | "mandate" | "capability" | "rail"
            /** The unique ID. */
            id: string | null
            /** The name. */
            name: string | null
          }
          rule: components["schemas"]["Rule"]
          /** Minor units (cents) as a decimal string. */
          to_minor?: string
        })[]
        /** When the same payment would pass without a change; null if never. */
        passes_at: string | null
      }
    }
    EndedSession: {
      /** The unique ID. */
      id: string
      /** The status. */
      status: "active" | "revoked" | "expired"
      /** Whether this is the session of the request. */
      current: boolean
      /** The IP address of the request; null if unknown. */
      ip: string | null
      /** The user agent of the browser or program; null if unknown. */
      user_agent: string | null
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute. */
      last_used_at: string
      /** When the session ends without further use. Each use postpones it, up to the maximum age of a session. */
      expires_at: string
      /** When it was revoked; null until then. */
      revoked_at: string | null
      /** Null for API keys, which cannot see what others added. */
      began_here: components["schemas"]["BeganHere"] | null
    }
    EnterAmount: {
      /** The amount that the provider reported to a person. */
      amount_minor: string
      /** The receipt of the money. Required for a deposit without `provider_receipt`, so that it is booked once. */
      provider_receipt?: string
      /** The administrator’s note. */
      note: string
    }
    Error: {
      /** The error code, for programs. New codes may be added. */
      error: components["schemas"]["ErrorCode"]
      /** A sentence for people. */
      message: string
      details?: components["schemas"]["ErrorDetails"]
    }
    ErrorDetails: {
      /** The ID of the request in the logs. */
      request_id: string
      /** A page that explains the error code and how to fix the problem. */
      doc_url: string
      /** The invalid field, parameter or header. Present only if exactly one is invalid. */
      param?: string
      /** Only for 400 errors: problems by field, up to 100. */
      fields?: {
        /** The path, such as `spending_controls.daily_limit_minor`. */
        path: string
        /** The text, for people. */
        message: string
      }[]
      /** Only for payment batches: problems by item, up to 100. */
      items?: {
        /** The index of the item in the request, from 0. */
        index: number
        /** Only for CSV batches: the row number, as a spreadsheet shows it. */
        row?: number
        error: components["schemas"]["ErrorCode"]
        /** The text, for people. */
        message: string
        /** The invalid field. */
        param?: string
        /** The earlier payment that this one looks like (`possible_duplicate`), or the payment that was created with this key (`idempotency`). */
        existing_payment_id?: string
        /** The index of the earlier item that this item looks like. */
        same_as_index?: number
        /** Only for CSV batches: the earlier row that this row looks like. */
        same_as_row?: number
        /** The existing record, if the caller may read it. Status `succeeded` means that a payment was paid. */
        existing?: components["schemas"]["ExistingRecord"]
        /** How to fix the problem, in one sentence. */
        fix?: string
      }[]
      /** The number of problems that are not listed. */
      more?: number
      /** For 404 errors, the field or header whose ID does not exist. For invalid signatures, the part that is wrong. */
      field?: string
      /** The reason for a conflict or another error. `database_lost_writes`: the database lost the request that used this key. `upgrade_running`: an operator has not finished an upgrade yet. `not_an_approver`: a policy names the only accounts that may decide. `sign_up`: this person may not open an account here. */
      reason?: components["schemas"]["ErrorReason"]
      /** The earlier payment that this one looks like (`possible_duplicate`), or the payment that was created with this key (`idempotency`). */
      existing_payment_id?: string
      /** The index of the earlier item that this item looks like. */
      same_as_index?: number
      /** Only for CSV batches: the earlier row that this row looks like. */
      same_as_row?: number
      /** The existing record, if the caller may read it. Status `succeeded` means that a payment was paid. */
      existing?: components["schemas"]["ExistingRecord"]
      /** Only for `idempotency`: the batch that was created with this key. */
      existing_payment_batch_id?: string
      /** Only for `idempotency`: the top-up that was created with this key. */
      existing_topup_id?: string
      /** Only for `idempotency`: the beneficiary that was created with this key. */
      existing_beneficiary_id?: string
      /** Only for conflicts: the current status of the resource. */
      status?: string
      /** Only for conflicts: the current version of the resource. */
      version?: number
      /** Only for conflicts: the earlier resolution. */
      resolution?: string
      /** Only for conflicts: the ID of the existing resource. */
      id?: string
      /** Only for conflicts: the batch that contains the payment. */
      batch_id?: string
      /** Only for conflicts: the payment to resolve instead. */
      payment_id?: string
      /** Only for `rail_may_answer`: when a person may decide; null if this is not known yet. */
      from?: string | null
      /** Only for `decided`: your earlier decision. */
      your_decision?: string
      /** Only for `decided`: the account that made the last decision. */
      decided_by?: string
      /** Only for `decided`: the time of the last decision. */
      decided_at?: string | null
      /** The permission that the credential lacks. */
      required_permission?: components["schemas"]["Permission"]
      /** The capability that is disabled for the account. */
      capability?: string
      /** Only for `policy_denied`: the decision. */
      decision?: components["schemas"]["Decision"]
      /** Only for `insufficient_funds`: the amount of the payment, without its fee. */
      amount_minor?: string
      /** Only for `insufficient_funds`: the fee of the payment. */
      fee_minor?: string
      /** Only for `insufficient_funds`: the total fees of the batch. */
      fees_minor?: string
      /** The amount that the balance must cover, including fees. */
      required_minor?: string
      /** Only for `insufficient_funds`: the available balance, if the caller may read the account. */
      available_minor?: string
      /** The requested amount in minor units. */
      requested_minor?: string
      /** Only for `insufficient_funds`: the total amount of the batch, without fees. */
      total_minor?: string
      /** Only for `step_up_required`: the maximum age of the confirmation, in seconds. */
      max_age_seconds?: number
      /** Only for `step_up_required`: when the identity was last confirmed; null for a dashboard token of a session, which cannot confirm it. */
      proven_at?: string | null
      /** Only for `invalid_signature`: the signing wallet. */
      recovered_address?: string | null
      /** Only for `invalid_signature`: the expected values. */
      expected?: Record<string, unknown>
      /** Only for `invalid_signature`: the value in the message. */
      actual?: unknown
    }
    Event: components["schemas"]["BalanceEvent"] | components["schemas"]["TopupEvent"] | components["schemas"]["PaymentEvent"] | components["schemas"]["PaymentBatchEvent"] | components["schemas"]["ApprovalEvent"] | components["schemas"]["MandateEvent"] | components["schemas"]["BeneficiaryEvent"] | components["schemas"]["PolicyEvent"] | components["schemas"]["ApiKeyEvent"] | components["schemas"]["GrantEvent"] | components["schemas"]["IdentityEvent"] | components["schemas"]["PasskeyEvent"] | components["schemas"]["SessionEvent"] | components["schemas"]["MemberEvent"] | components["schemas"]["WorkspaceEvent"] | components["schemas"]["BalanceShortEvent"] | components["schemas"]["PaymentRefusedEvent"] | components["schemas"]["InvitationEvent"]
    EvidenceArchive: string
    ExistingRecord: {
      /** The ID of the payment. */
      payment_id?: string
      /** The ID of the payment batch. */
      payment_batch_id?: string
      /** The ID of the top-up. */
      topup_id?: string
      /** The ID of the beneficiary. */
      beneficiary_id?: string
      /** The current status of the record. */
      status: string
      /** The rail's receipt for a payment or a top-up. */
      receipt?: string | null
      /** The amount in minor units. A deposit of any amount has none. */
      amount_minor?: string
      /** When it was created. */
      created_at: string
      /** When the record reached its final status; null until then. */
      completed_at?: string | null
    }
    FreezeGrant: {
      /** Whether the grant is frozen. A frozen grant can still read, but cannot move money. */
      frozen: boolean
    }
    FreezeWorkspace: {
      /** Free-text reason. */
      reason?: string
    }
    FrozenGrants: {
      /** The number of grants that this request froze, including those that a member had frozen and could unfreeze. */
      frozen: number
    }
    Grant: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The kind. */
      kind: "api_key" | "oauth"
      /** The name of the key or the agent. */
      label: string
      /** The permissions. */
      permissions: components["schemas"]["Permission"][]
      /** The parent grant; null if a person created the grant. */
      parent_grant_id: string | null
      spending_controls: components["schemas"]["SpendingControls"]
      /** The amounts that this grant and its descendants have used today and this month, in the time zone of the workspace, and in total. */
      usage: {
        /** Minor units (cents) as a decimal string. */
        today_minor: string
        /** Minor units (cents) as a decimal string. */
        month_minor: string
        /** Minor units (cents) as a decimal string. */
        total_minor: string
      }
      /** The remaining amount under the strictest limit of this grant and its parent grants, for each kind of limit. */
      headroom: {
        /** The amount for one payment, in minor units; null for no limit. */
        per_payment_minor: string | null
        /** The amount for the current day, in minor units; null for no limit. */
        today_minor: string | null
        /** The amount for the current month, in minor units; null for no limit. */
        month_minor: string | null
        /** The total amount, in minor units; null for no limit. */
        total_minor: string | null
      }
      /** Whether the grant is frozen: it still authenticates, but cannot move money. */
      frozen: boolean
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
      /** When it expires; null for never. */
      expires_at: string | null
      /** When it was revoked; null until then. */
      revoked_at: string | null
    }
    Health: {
      /** The status. */
      status: "ok"
    }
    HistoryEntry: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "topup" | "payment_hold" | "payment" | "payment_release" | "payment_return" | "fee" | "separation" | "adjustment"
      /** The signed change of the available balance. All entries add up to the balance. A hold lowers it, a release raises it, and the payment itself is then 0. A charged late success is a payment without a hold, and lowers it. */
      amount_minor: string
      /** The signed change of the held amount. A hold raises it; its payment or release lowers it. */
      held_change_minor: string
      /** Minor units (cents) as a decimal string. */
      available_after_minor: string
      /** The record that the entry belongs to. */
      reference: {
        /** The kind. */
        type: string
        /** The unique ID. */
        id: string
      }
      /** The paid beneficiary. Null if the entry is not a payment, or if the caller lacks `beneficiary.read`. */
      beneficiary: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
      } | null
      /** The batch that contains the payment. Null in the same cases as `beneficiary`. */
      batch: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string | null
      } | null
      /** The `Idempotency-Key` of the request that created the payment, its batch or the top-up. */
      idempotency_key: string | null
      /** The batch that contains the payment; null for a single payment. */
      batch_id: string | null
      /** The index of the payment in its batch, from 0. */
      batch_index: number | null
      /** When it was created. */
      created_at: string
    }
    HistorySummary: {
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The totals of each day, oldest first. */
      days: ({
        /** The date in the workspace’s time zone. */
        date: string
        /** Minor units (cents) as a decimal string. */
        in_minor: string
        /** Minor units (cents) as a decimal string. */
        out_minor: string
        /** The available balance at the end of the day; null for a shared balance. */
        available_minor: string | null
      })[]
    }
    Identity: {
      /** The unique ID. */
      id: string
      /** The provider that vouches for it or sent it. */
      provider: "google" | "github" | "wallet"
      /** The subject at the provider. For a wallet, its EIP-55 address. */
      subject: string
      /** The chain of a contract wallet; otherwise null. The same address on another chain is another identity. */
      chain_id: number | null
      /** The verified email address; null if there is none. */
      email: string | null
      /** Whether the provider has verified the email address. */
      email_verified: boolean
      /** The name that people see. */
      display_name: string | null
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
      /** The grant that linked the identity. Revoking that grant ends the sessions of the identity and unlinks it, unless it is the last sign-in method of the account. Null if a person linked it. */
      linked_by_grant_id: string | null
    }
    InitiateTopup: {
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor?: string
      /** A Kenyan mobile number: `07…`, `01…`, `+254…` or `254…`. The phone receives a prompt. */
      phone_number?: string
      /** MPESA_STK: a prompt for `amount_minor` on the phone with `phone_number`. PESALINK: PesaLink from a bank; `instructions` contains the account to pay to. MPESA_PAYBILL: M-PESA paybill; `instructions` contains the account to pay to. */
      method?: "MPESA_STK" | "PESALINK" | "MPESA_PAYBILL"
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
    }
    IntentMandate: {
      /** The unique ID. */
      id: string
      status: components["schemas"]["MandateStatus"]
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The purpose, in words. */
      description: string
      /** Minor units (cents) as a decimal string. */
      max_total_minor: string
      /** The maximum amount of one payment, in minor units; null for no limit. */
      max_per_payment_minor: string | null
      /** The maximum number of payments; null for no limit. */
      max_payments: number | null
      /** The beneficiaries that the mandate covers; empty for any. */
      beneficiary_ids: string[]
      /** The payment types that the mandate covers; empty for any. */
      payment_types: string[]
      /** When it becomes valid. */
      valid_from: string
      /** When it expires. */
      expires_at: string
      /** Minor units (cents) as a decimal string. */
      spent_minor: string
      /** The number of payments made under the mandate. */
      payments_made: number
      /** The exact text that was signed. */
      message: string
      /** The signature. */
      signature: string
      /** The wallet that signed: an address, or `eip155:<chain>:<address>` for a contract wallet. */
      signer: string
      /** When it was created. */
      created_at: string
      /** When it was revoked; null until then. */
      revoked_at: string | null
    }
    Invitation: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      role: components["schemas"]["Role"]
      /** The invited email address; null if a wallet is invited. */
      email: string | null
      /** The invited wallet; null if an email address is invited. */
      wallet_address: string | null
      /** The status. */
      status: "pending" | "accepted" | "revoked" | "expired"
      /** The account that sent the invitation. */
      invited_by: string
      /** The account that accepted it; null until then. */
      accepted_by: string | null
      /** When it was created. */
      created_at: string
      /** When it expires. */
      expires_at: string
      /** When it was accepted; null until then. */
      accepted_at: string | null
      /** When it was revoked; null until then. */
      revoked_at: string | null
    }
    InvitationPreview: {
      /** The workspace. */
      workspace: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string
        /** The kind. */
        kind: "personal" | "team"
      }
      role: components["schemas"]["Role"]
      /** The status. */
      status: "pending" | "accepted" | "revoked" | "expired"
      /** The person who sent the invitation. */
      invited_by: {
        /** The ID of the account. */
        account_id: string
        /** The name that people see. */
        display_name: string | null
      }
      /** When it expires. */
      expires_at: string
    }
    InvitationWithToken: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      role: components["schemas"]["Role"]
      /** The invited email address; null if a wallet is invited. */
      email: string | null
      /** The invited wallet; null if an email address is invited. */
      wallet_address: string | null
      /** The status. */
      status: "pending" | "accepted" | "revoked" | "expired"
      /** The account that sent the invitation. */
      invited_by: string
      /** The account that accepted it; null until then. */
      accepted_by: string | null
      /** When it was created. */
      created_at: string
      /** When it expires. */
      expires_at: string
      /** When it was accepted; null until then. */
      accepted_at: string | null
      /** When it was revoked; null until then. */
      revoked_at: string | null
      /** The token that accepts the invitation, shown only once. */
      token?: string
    }
    JsonWebKeySet: {
      /** The public keys, including retired ones. */
      keys: {
        /** The type of the key (RFC 7517). */
        kty: "OKP"
        /** The curve (RFC 8037). */
        crv: "Ed25519"
        /** The name of the algorithm in its standard. */
        alg: "EdDSA"
        /** The use of the key. */
        use: "sig"
        /** The ID of the key. */
        kid: string
        /** The key or its first coordinate, in base64url. */
        x: string
        /** When the key was first used, in seconds since 1970. */
        iat: number
        /** When the key was retired. It signs nothing afterwards, but its earlier signatures remain valid. */
        exp?: number
      }[]
    }
    LinkFlow: {
      /** The URL to open in the browser of the person whose identity is linked. Replays with the same Idempotency-Key omit it. */
      authorization_url?: string
      /** When it expires. */
      expires_at: string
    }
    LinkIdentity: {
      /** The provider of the new sign-in method. */
      provider: "wallet"
      /** The signed text, byte for byte. */
      message: string
      /** The signature. */
      signature: string
    } | {
      /** The provider of the new sign-in method. */
      provider: "google" | "github"
      /** The URL that the browser opens afterwards. */
      return_to?: string
    }
    LoggedRequest: {
      /** The ID of the entry. */
      id: string
      /** When the request was answered. */
      at: string
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The operation ID from the API document. */
      operation: string
      /** The HTTP method. */
      method: string
      /** The path without the query. IDs are included; other path parameters appear by name. */
      path: string
      /** The HTTP status code of the answer. */
      status: number
      /** The error code; null if the request succeeded. */
      error: string | null
      /** The message of the error, up to 1,000 characters. */
      message: string | null
      /** The `X-Request-Id` of the answer. Calls of one MCP request share it. */
      request_id: string
      /** The response time in milliseconds. */
      ms: number
    }
    LoosenedPolicy: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The name. */
      name: string
      /** When the policy was first loosened there. */
      loosened_at: string
      /** The request that restores or recreates the policy, or withdraws the pending change. */
      undo: {
        /** The HTTP method. */
        method: "POST" | "PATCH" | "DELETE"
        /** The path, for use in the workspace of the policy. */
        path: string
        /** The body; null if there is none. */
        body: Record<string, unknown> | null
      }
    }
    Maker: {
      /** The ID of the account. */
      account_id: string
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The name of the key or agent. */
      label: string | null
    }
    Member: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The ID of the account. */
      account_id: string
      /** The verified email address; null if there is none. */
      email: string | null
      /** The name that people see. */
      display_name: string | null
      /** The first linked wallet, for members without a name or an email. */
      wallet_address: string | null
      role: components["schemas"]["Role"]
      /** The status. */
      status: "active" | "suspended" | "removed"
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
    }
    NameCheck: {
      /** `match`, `close_match` and `no_match` compare the name that the rail reports with `legal_name`, or with `display_name` if there is none. `unavailable`: the rail returned no name, which proves nothing. `unverified`: the rail was not asked. */
      status: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
      /** The name that the rail reports; M-PESA masks parts of it. Accounts without a successful payment see only the first name and initials, until a payment to this beneficiary succeeds. */
      name: string | null
      /** `lookup`: the rail was asked. `payment`: the result of a payment reported the name. `daily_limit`: not checked yet, because the account has used its lookups for the day; the check follows the next day. */
      source: "lookup" | "payment" | "daily_limit" | null
      /** When the name was last checked. */
      checked_at: string
      /** The payment whose result reported the name; null for a lookup. */
      payment_id: string | null
    }
    NameMovement: {
      /** The provider that made the movement. */
      provider: "MPESA" | "PESALINK"
      /** `settlement`: the provider took its charges from the organisation's money, so its charges account rose. `bank_transfer`: a transfer to or from the organisation's bank. `charges`: charges taken from the money itself, such as for a transfer. */
      kind: "settlement" | "bank_transfer" | "charges"
      /** Whether money came in or went out. */
      direction: "in" | "out"
      /** The organisation's number or account at the provider. */
      account?: string
      /** The provider's receipt. Statements that list it with this amount then match. Without a receipt, record the movement before the next comparison. */
      provider_receipt?: string
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor: string
      /** When the money moved, according to the provider. */
      moved_at: string
      /** The administrator’s note. */
      note: string
    }
    NewApiKey: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The name. */
      name: string
      /** The first characters of the key, to identify it. They are not secret. */
      key_prefix: string
      /** The last four characters of the key. */
      last_four: string
      /** The status. */
      status: "active" | "revoked" | "expired"
      /** The permissions. */
      permissions: components["schemas"]["Permission"][]
      /** The grant, with its permissions, limits and usage. */
      grant: components["schemas"]["Grant"]
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
      /** When it expires; null for never. */
      expires_at: string | null
      /** When the key stops working; in the future while it overlaps with its successor. */
      revoked_at: string | null
      /** The key itself, shown only once. A replay of the answer does not contain it. */
      key?: string
    }
    NotificationSettings: {
      /** An approval waits for you. A reminder follows at half of its time. */
      approvals: {
        /** Whether to send an email to each verified address of the account. */
        email: boolean
        /** Whether to push to the browsers that subscribed to notifications. */
        push: boolean
      }
      /** A payment batch that you requested ended with failures. */
      lists: {
        /** Whether to send an email to each verified address of the account. */
        email: boolean
      }
      /** The balance does not cover the scheduled payments. */
      balance: {
        /** Whether to send an email to each verified address of the account. */
        email: boolean
      }
      /** A policy change waits for confirmation. */
      policies: {
        /** Whether to send an email to each verified address of the account. */
        email: boolean
      }
      /** The language of the emails. */
      language: "en" | "sw"
      /** `off`: no email is sent. `sandbox`: emails are shown on a page of the sandbox. */
      delivery: "smtp" | "sandbox" | "off"
      /** The addresses that receive emails. */
      addresses: ({
        /** A verified address of a sign-in method. */
        email: string
        /** When the last email to the address was permanently rejected; otherwise null. */
        refused_at: string | null
      })[]
    }
    OAuthAuthorization: {
      /** The unique ID. */
      id: string
      /** The OAuth flow of the request. */
      flow: "code" | "device"
      /** The status. */
      status: "pending" | "approved" | "denied" | "expired"
      /** The application that requests access. */
      client: components["schemas"]["OAuthClient"]
      /** The code that a person compares and enters. */
      user_code: string | null
      /** The host that receives the answer; null for a device. */
      redirect_host: string | null
      /** True if the answer goes to a program on the computer of the person who decides. Any program there can impersonate this client. */
      redirect_is_local: boolean
      /** The requested permissions. */
      scopes: components["schemas"]["Permission"][]
      spending_controls: components["schemas"]["SpendingControls"]
      /** The resources that the token would be for. */
      resources: string[]
      /** The workspaces in which the caller can authorize this client, each with the scopes that the caller has there. */
      workspaces: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string
        role: components["schemas"]["Role"]
        /** The permissions. */
        permissions: components["schemas"]["Permission"][]
      }[]
      /** When it was created. */
      created_at: string
      /** When it expires. */
      expires_at: string
    }
    OAuthClient: {
      /** The unique ID. */
      id: string
      /** The name. */
      name: string
      /** The page of the application; null if it named none. */
      uri: string | null
      /** The host that proves the identity of the client and receives the answer. Null if no host proves it, and always null for a device. */
      verified_host: string | null
    }
    OAuthClientMetadata: Record<string, unknown>
    OAuthClientRegistration: {
      /** The ID of the client. */
      client_id: string
      /** When the application was registered, in seconds since 1970. */
      client_id_issued_at: number
      /** The secret of the client; absent for a public client. */
      client_secret?: string
      /** When the secret expires, in seconds since 1970; 0 if it does not expire. */
      client_secret_expires_at?: number
      /** The name of the application. */
      client_name: string
      /** The page of the application. */
      client_uri?: string
      /** The allowed redirect URIs. */
      redirect_uris: string[]
      /** The grant types that the client can use. */
      grant_types: string[]
      /** The response types that the client uses. */
      response_types: string[]
      /** How the client authenticates at the token endpoint. */
      token_endpoint_auth_method: string
      /** The permissions of the token, separated by spaces. */
      scope?: string
    }
    OAuthDecided: {
      /** The status. */
      status: "approved" | "denied"
      /** The URL that the browser opens next. */
      redirect_to: string
    }
    OAuthDecision: {
      /** Whether to approve or deny the access. */
      decision: "approve" | "deny"
      /** The granted scopes. Defaults to all requested scopes that the caller has in the workspace. */
      permissions?: components["schemas"]["Permission"][]
      /** The granted limits. They cannot exceed the requested limits, which are the default. */
      spending_controls?: {
        /** The maximum amount of one payment. If absent, this grant has no such limit. */
        per_payment_limit_minor?: string | null
        /** The maximum total of its payments in one day, in the workspace's time zone. If absent, this grant has no such limit. */
        daily_limit_minor?: string | null
        /** The maximum total of its payments in one month, in the workspace's time zone. If absent, this grant has no such limit. */
        monthly_limit_minor?: string | null
        /** The maximum total of all its payments since the grant was created, for a single job. It never resets; only a person can raise it. If absent, this grant has no such limit. */
        total_limit_minor?: string | null
        /** Payments of this amount or more need an approval. If absent, this grant has no such limit. */
        approval_threshold_minor?: string | null
        /** The allowed payment types or rails. */
        payment_types?: string[] | null
        /** The allowed beneficiaries. */
        beneficiary_ids?: string[] | null
        /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. Defaults to `require_approval`. */
        new_payees?: components["schemas"]["Outcome"] | null
        /** The outcome for payments with the same payee, amount and reference as an earlier one. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. If absent, this grant has no such rule. Agents that a person approves by OAuth get `confirm`. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      }
      /** Defaults to the caller's current workspace. */
      workspace_id?: string
      /** When access ends, even if tokens are refreshed. If omitted, access does not expire. */
      expires_at?: string
    }
    OAuthDeviceAuthorization: {
      /** The code with which the device polls for its token. */
      device_code: string
      /** The code that a person compares and enters. */
      user_code: string
      /** The page on which a person enters the code. */
      verification_uri: string
      /** The same page with the code filled in. */
      verification_uri_complete: string
      /** The number of seconds until it expires. */
      expires_in: number
      /** The minimum number of seconds between two polls. */
      interval: number
    }
    OAuthDeviceDecision: {
      /** Whether to approve or deny the access. */
      decision: "approve" | "deny"
      /** The granted scopes. Defaults to all requested scopes that the caller has in the workspace. */
      permissions?: components["schemas"]["Permission"][]
      /** The granted limits. They cannot exceed the requested limits, which are the default. */
      spending_controls?: {
        /** The maximum amount of one payment. If absent, this grant has no such limit. */
        per_payment_limit_minor?: string | null
        /** The maximum total of its payments in one day, in the workspace's time zone. If absent, this grant has no such limit. */
        daily_limit_minor?: string | null
        /** The maximum total of its payments in one month, in the workspace's time zone. If absent, this grant has no such limit. */
        monthly_limit_minor?: string | null
        /** The maximum total of all its payments since the grant was created, for a single job. It never resets; only a person can raise it. If absent, this grant has no such limit. */
        total_limit_minor?: string | null
        /** Payments of this amount or more need an approval. If absent, this grant has no such limit. */
        approval_threshold_minor?: string | null
        /** The allowed payment types or rails. */
        payment_types?: string[] | null
        /** The allowed beneficiaries. */
        beneficiary_ids?: string[] | null
        /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. Defaults to `require_approval`. */
        new_payees?: components["schemas"]["Outcome"] | null
        /** The outcome for payments with the same payee, amount and reference as an earlier one. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. If absent, this grant has no such rule. Agents that a person approves by OAuth get `confirm`. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      }
      /** Defaults to the caller's current workspace. */
      workspace_id?: string
      /** When access ends, even if tokens are refreshed. If omitted, access does not expire. */
      expires_at?: string
    }
    OAuthDeviceRequest: {
      /** Required, except with HTTP Basic authentication. */
      client_id?: string
      /** The secret of a confidential client. Omit it with HTTP Basic authentication. */
      client_secret?: string
      /** Permission names, separated by spaces. Defaults to the scopes that only read, without those that the client did not register. Required if none remains. */
      scope?: string
      /** The resource that the token is for (RFC 8707): the URL of this service (API and MCP server), or of the MCP server alone. Defaults to both. */
      resource?: string[]
      /** The limits that the client requests (RFC 9396): a JSON array with one object of type `payment` and the fields of SpendingControls. */
      authorization_details?: string
      /** The PKCE code challenge. Required. */
      code_challenge?: string
      /** `S256`. Required. */
      code_challenge_method?: string
    }
    OAuthError: {
      /** The error code. */
      error: string
      /** The error in one sentence. */
      error_description: string
      /** The text, for people. */
      message: string
      /** Details that help to correct the request. */
      details?: Record<string, unknown>
    }
    OAuthIntrospection: {
      /** Whether the token is active. An inactive token has no other fields. */
      active: boolean
      /** The permissions of the token, separated by spaces. */
      scope?: string
      /** The ID of the client. */
      client_id?: string
      /** The type of the token: `Bearer`. */
      token_type?: string
      /** When the token expires, in seconds since 1970. */
      exp?: number
      /** When the token was issued, in seconds since 1970. */
      iat?: number
      /** The account. */
      sub?: string
      /** The resource that the token is for. */
      aud?: string | string[]
      /** The issuer of the token. */
      iss?: string
      /** The grant of the API key or agent. */
      grant_id?: string
      /** The ID of the workspace. */
      workspace_id?: string
      /** The granted limits. They may be lower than the requested ones. */
      authorization_details?: ({
        /** Minor units (cents) as a decimal string. */
        per_payment_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        daily_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        monthly_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        total_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        approval_threshold_minor?: string
        /** The only payment types or rails allowed; empty or absent for any. */
        payment_types?: string[]
        /** The only beneficiaries allowed; empty or absent for any. */
        beneficiary_ids?: string[]
        new_payees?: components["schemas"]["Outcome"]
        /** The outcome for payments that look like an earlier one. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny"
        /** The kind. */
        type: "payment"
      })[]
    }
    OAuthIntrospectionRequest: {
      /** Required, except with HTTP Basic authentication. */
      client_id?: string
      /** The secret of a confidential client. Omit it with HTTP Basic authentication. */
      client_secret?: string
      /** Required. */
      token?: string
      /** Optional. */
      token_type_hint?: string
    }
    OAuthPushRequest: {
      /** Required, except with HTTP Basic authentication. */
      client_id?: string
      /** The secret of a confidential client. Omit it with HTTP Basic authentication. */
      client_secret?: string
      /** `code` */
      response_type?: string
      /** One of the registered redirect URIs. Optional if there is only one. */
      redirect_uri?: string
      /** Returned to the client unchanged. */
      state?: string
      /** The PKCE code challenge. Required. */
      code_challenge?: string
      /** `S256`. Required. */
      code_challenge_method?: string
      /** `query` */
      response_mode?: string
      /** `none` is rejected, because consent is always required. */
      prompt?: string
      /** Not supported. */
      request?: string
      /** Permission names, separated by spaces. Defaults to the scopes that only read, without those that the client did not register. Required if none remains. */
      scope?: string
      /** The resource that the token is for (RFC 8707): the URL of this service (API and MCP server), or of the MCP server alone. Defaults to both. */
      resource?: string[]
      /** The limits that the client requests (RFC 9396): a JSON array with one object of type `payment` and the fields of SpendingControls. */
      authorization_details?: string
      /** Not allowed here. */
      request_uri?: string
    }
    OAuthPushedRequest: {
      /** The reference to the pushed authorization request. */
      request_uri: string
      /** The number of seconds until it expires. */
      expires_in: number
    }
    OAuthResourceMetadata: {
      /** The URL of the resource. */
      resource: string
      /** The authorization servers that issue tokens for the resource. */
      authorization_servers: string[]
      /** The permissions that can be requested. */
      scopes_supported: string[]
      /** The supported ways to send a token. */
      bearer_methods_supported: string[]
      /** The types of `authorization_details` (RFC 9396). */
      authorization_details_types_supported: string[]
      /** The name of the resource. */
      resource_name: string
      /** The URL of the documentation of the resource. */
      resource_documentation: string
    }
    OAuthRevocationRequest: {
      /** Required, except with HTTP Basic authentication. */
      client_id?: string
      /** The secret of a confidential client. Omit it with HTTP Basic authentication. */
      client_secret?: string
      /** Required. */
      token?: string
      /** Optional. */
      token_type_hint?: string
    }
    OAuthServerMetadata: {
      /** The URL of the service that issued it. */
      issuer: string
      /** The endpoint at which a person authorizes a client. */
      authorization_endpoint: string
      /** The token endpoint. */
      token_endpoint: string
      /** The endpoint that registers clients (RFC 7591). */
      registration_endpoint: string
      /** The endpoint that revokes tokens (RFC 7009). */
      revocation_endpoint: string
      /** The endpoint that introspects tokens (RFC 7662). */
      introspection_endpoint: string
      /** The device flow endpoint (RFC 8628). */
      device_authorization_endpoint: string
      /** The endpoint for pushed requests (RFC 9126). */
      pushed_authorization_request_endpoint: string
      /** Whether authorization requests must be pushed. */
      require_pushed_authorization_requests: boolean
      /** The permissions that can be requested. */
      scopes_supported: string[]
      /** The supported response types. */
      response_types_supported: string[]
      /** The supported response modes. */
      response_modes_supported: string[]
      /** The supported grant types. */
      grant_types_supported: string[]
      /** The supported PKCE methods. */
      code_challenge_methods_supported: string[]
      /** The client authentication methods. */
      token_endpoint_auth_methods_supported: string[]
      /** The client authentication methods. */
      revocation_endpoint_auth_methods_supported: string[]
      /** The client authentication methods. */
      introspection_endpoint_auth_methods_supported: string[]
      /** Whether the response includes the issuer (RFC 9207). */
      authorization_response_iss_parameter_supported: boolean
      /** The types of `authorization_details` (RFC 9396). */
      authorization_details_types_supported: string[]
      /** Whether the URL of a client’s metadata can be its client ID. */
      client_id_metadata_document_supported: boolean
      /** The URL of the documentation. */
      service_documentation: string
    }
    OAuthTokenRequest: {
      /** Required, except with HTTP Basic authentication. */
      client_id?: string
      /** The secret of a confidential client. Omit it with HTTP Basic authentication. */
      client_secret?: string
      /** `authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:device_code` */
      grant_type?: string
      /** Required for `authorization_code`. */
      code?: string
      /** Required for `authorization_code` and for a device code. */
      code_verifier?: string
      /** Optional. Checked if present. */
      redirect_uri?: string
      /** Required for `refresh_token`. */
      refresh_token?: string
      /** Required for a device code. */
      device_code?: string
      /** For `refresh_token`: a subset of the granted scopes. */
      scope?: string
      /** A subset of the resources that the person approved. */
      resource?: string[]
    }
    OAuthTokens: {
      /** The access token: send it as `Authorization: Bearer …`. */
      access_token: string
      /** The type of the token: `Bearer`. */
      token_type: "Bearer"
      /** The number of seconds until it expires. */
      expires_in: number
      /** The refresh token, which gets the next pair of tokens once. */
      refresh_token?: string
      /** The permissions of the token, separated by spaces. */
      scope: string
      /** The granted limits. They may be lower than the requested ones. */
      authorization_details?: ({
        /** Minor units (cents) as a decimal string. */
        per_payment_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        daily_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        monthly_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        total_limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        approval_threshold_minor?: string
        /** The only payment types or rails allowed; empty or absent for any. */
        payment_types?: string[]
        /** The only beneficiaries allowed; empty or absent for any. */
        beneficiary_ids?: string[]
        new_payees?: components["schemas"]["Outcome"]
        /** The outcome for payments that look like an earlier one. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny"
        /** The kind. */
        type: "payment"
      })[]
    }
    Passkey: {
      /** The unique ID. */
      id: string
      /** The name. */
      name: string
      /** The credential ID of the authenticator, in base64url, for `allowCredentials`. */
      credential_id: string
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
    }
    PasskeyAssertion: {
      /** The unique ID. */
      id: string
      /** The ID of the passkey, in base64url (WebAuthn). */
      rawId: string
      /** The kind. */
      type: "public-key"
      /** Whether the authenticator is part of the device: `platform` or `cross-platform`. Ignored. */
      authenticatorAttachment?: unknown
      /** The results of WebAuthn extensions. Ignored. */
      clientExtensionResults?: unknown
      /** The response of the authenticator (WebAuthn). */
      response: {
        /** The client data of the signature, in base64url (WebAuthn). */
        clientDataJSON: string
        /** The authenticator data of the signature, in base64url (WebAuthn). */
        authenticatorData: string
        /** The signature. */
        signature: string
        /** The user handle that the authenticator stores. Ignored. */
        userHandle?: unknown
      }
    }
    PasskeyOptions: {
      /** The relying party: this service (WebAuthn). */
      rp: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string
      }
      /** The account that the passkey belongs to (WebAuthn). */
      user: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string
        /** The name that the authenticator shows (WebAuthn). */
        displayName: string
      }
      /** The challenge in base64url. It can be used once within ten minutes. */
      challenge: string
      /** The accepted key types (WebAuthn). */
      pubKeyCredParams: {
        /** The kind. */
        type: "public-key"
        /** The number of the algorithm (COSE). */
        alg: number
      }[]
      /** The time limit for the browser, in milliseconds (WebAuthn). */
      timeout: number
      /** The passkeys of the account (WebAuthn). */
      excludeCredentials: {
        /** The unique ID. */
        id: string
        /** The kind. */
        type: "public-key"
      }[]
      /** The authenticators that can be used (WebAuthn). */
      authenticatorSelection: {
        /** Whether the authenticator stores the key (WebAuthn). */
        residentKey: "required"
        /** Whether the authenticator stores the key (WebAuthn). */
        requireResidentKey: true
        /** Whether the authenticator verifies the user (WebAuthn). */
        userVerification: "required"
      }
      /** Whether the authenticator attests its model (WebAuthn). */
      attestation: "none"
    }
    PasskeyRegistration: {
      /** The unique ID. */
      id: string
      /** The ID of the passkey, in base64url (WebAuthn). */
      rawId: string
      /** The kind. */
      type: "public-key"
      /** Whether the authenticator is part of the device: `platform` or `cross-platform`. Ignored. */
      authenticatorAttachment?: unknown
      /** The results of WebAuthn extensions. Ignored. */
      clientExtensionResults?: unknown
      /** The response of the authenticator (WebAuthn). */
      response: {
        /** The client data of the signature, in base64url (WebAuthn). */
        clientDataJSON: string
        /** The attestation object of the new key, in base64url (WebAuthn). */
        attestationObject: string
        /** The authenticator data, extracted by the browser. Ignored. */
        authenticatorData?: unknown
        /** The transports of the authenticator: `internal`, `hybrid`, `usb`, `nfc`, `ble`. Ignored. */
        transports?: unknown
        /** The public key, extracted by the browser. Ignored. */
        publicKey?: unknown
        /** The algorithm of the key (COSE). Ignored. */
        publicKeyAlgorithm?: unknown
      }
    }
    Payment: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      status: components["schemas"]["PaymentStatus"]
      /** The amount that the beneficiary receives. */
      amount_minor: string
      /** The fee, charged in addition to the amount when the payment succeeds. It is set when the payment is created; "0" if there is none. */
      fee_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The batch that contains the payment; null for a single payment. */
      batch_id: string | null
      /** When a scheduled payment is evaluated and sent. */
      execute_at: string | null
      /** The index of the payment in its batch, from 0. */
      batch_index: number | null
      /** Only for CSV batches: the row number in the file, as a spreadsheet shows it. */
      batch_row: number | null
      /** The ID of the beneficiary. */
      beneficiary_id: string
      /** The beneficiary, with its name when the payment was created. */
      beneficiary: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
      }
      /** The payment type: the rail, or your own word. */
      payment_type: string
      payment_rail: components["schemas"]["Rail"]
      /** The purpose, as an external purpose code of ISO 20022 such as SALA. */
      purpose_code: string | null
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference: string | null
      /** The purpose, which the approver reads. */
      narrative: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The `Idempotency-Key` of the request that created it. */
      idempotency_key: string | null
      /** The mandate that the payment names; null if none. */
      mandate_id: string | null
      /** The approval of the payment or batch; null if none is needed. */
      approval_id: string | null
      initiated_by: components["schemas"]["Maker"]
      /** The decision that allowed the payment or required approval. */
      decision: components["schemas"]["Decision"]
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The failure code of this service; null unless it failed. The reference of codes lists who must act. */
      failure_code: components["schemas"]["FailureCode"] | null
      /** The reason of the failure, for people; null unless it failed. */
      failure_message: string | null
      /** The rail's own error code. */
      provider_code: string | null
      /** A success that the provider reported after the payment had failed and its hold was released. The status remains `failed`; an administrator books the late success. */
      late_success: {
        /** The provider’s receipt for the late success; null if it reported none. */
        receipt: string | null
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
        /** When the provider reported the success. */
        at: string
      } | null
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When the record reached its final status; null until then. */
      completed_at: string | null
      /** The checks of the outcome. Present only while the payment is `unknown`, when reading one payment or the administrator’s list. */
      outcome_check?: {
        /** When the rail was last asked for the outcome. */
        last_at: string | null
        /** When the rail will be asked next; null if only a person can resolve the payment. */
        next_at: string | null
      }
    }
    PaymentBatch: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The name. */
      name: string | null
      status: components["schemas"]["PaymentBatchStatus"]
      /** The number of payments. */
      items_count: number
      /** The total amount, without fees. */
      total_minor: string
      /** The total fees. */
      fees_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The Merkle root of the items in their order (RFC 6962), in hexadecimal. An approval of the batch approves exactly these items. */
      merkle_root: string
      /** The number of items in each status: scheduled, pending_approval, processing, succeeded, failed, unknown, rejected, expired, cancelled, returned. Statuses without items are omitted. */
      counts: Record<string, number>
      /** When a scheduled batch is evaluated and sent. */
      execute_at: string | null
      /** The earlier batch that this one repeats. */
      again_of: string | null
      /** The approval of the payment or batch; null if none is needed. */
      approval_id: string | null
      /** Who requested it: the account and, for a key or an agent, its grant. */
      initiated_by: {
        /** The ID of the account. */
        account_id: string
        /** The grant of the API key or agent; null for a person. */
        grant_id: string | null
      }
      /** The `Idempotency-Key` of the request that created it; null if it had none. */
      idempotency_key: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When the record reached its final status; null until then. */
      completed_at: string | null
    }
    PaymentBatchItem: {
      /** The beneficiary to pay. If omitted, `display_name` and `destination` identify the beneficiary. */
      beneficiary_id?: string
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor: string
      /** Defaults to the rail of the beneficiary. */
      payment_type?: string
      /** The purpose, as an external purpose code of ISO 20022 such as SALA. */
      purpose_code?: string | null
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference?: string | null
      /** The purpose, which the approver reads. */
      narrative?: string | null
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
      /** The name of the beneficiary, if `beneficiary_id` is omitted. If a beneficiary with this destination (and `payment_rail`, if given) exists, it is paid under its own name, with the warning `name_differs` if the names differ. Otherwise one is created with this name. */
      display_name?: string
      /** The rail of the destination. Defaults to `MPESA_B2C`. */
      payment_rail?: components["schemas"]["Rail"]
      /** MPESA_B2B: a paybill or till of 5 to 7 digits. MPESA_B2C: a Kenyan mobile number. PESALINK: an account number with bank_code, or a mobile number without. */
      destination?: string
      /** The bank code of a bank account, from `GET /v1/banks`. */
      bank_code?: string | null
      /** The legal name, which is compared with the registered name; null if none was given. */
      legal_name?: string | null
      /** The type of a new beneficiary. Defaults to `individual`. */
      type?: string
    }
    PaymentBatchLines: {
      /** The batch that contains the payment. */
      batch_id: string
      /** The Merkle root that an approval of the batch approves (RFC 6962), in hexadecimal. */
      merkle_root: string
      /** The items of the batch, in order. */
      lines: ({
        /** The ID of the payment. */
        payment_id: string
        /** Only for CSV batches: the row number, as a spreadsheet shows it. */
        row: number | null
        /** The item as the root binds it (RFC 8785): its index, beneficiary, destination, amount and reference. Hash it byte for byte. */
        leaf: string
        /** The name in the request, if it differs (warning `name_differs`). */
        given_name: string | null
        /** The result of comparing the name with the registered name. */
        verification: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
        /** The previous amount to the same destination; null for the first payment. */
        last_amount_minor: string | null
        /** Dangerous or unusual facts about this item, the most severe first. */
        facts: components["schemas"]["ApprovalFact"][]
      })[]
    }
    PaymentBatchPreview: {
      /** The number of payments. */
      items_count: number
      /** The total amount, without fees. */
      total_minor: string
      /** The total fees. */
      fees_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The status that the batch would have. */
      status: "scheduled" | "pending_approval" | "processing"
      /** The number of required approvals. */
      required_approvals: number
      /** The number of beneficiaries that would be created. */
      new_payees_count: number
      /** Warnings about the whole batch, such as ignored CSV columns. New codes may be added. */
      warnings: {
        /** The code of the warning. */
        code: "columns_ignored"
        /** The text of the warning, for people. */
        message: string
      }[]
      /** The payments, in order. */
      items: ({
        /** The position, from 0. */
        index: number
        /** Only for CSV batches: the row number, as a spreadsheet shows it. */
        row: number | null
        /** Whether a beneficiary already exists or would be created. */
        payee: "known" | "new"
        /** The beneficiary; null if it would be created. */
        beneficiary_id: string | null
        /** The name that is used for the payment. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
        /** The outcome of the strictest rule. */
        outcome: "allow" | "require_approval"
        /** The warning codes, as in the decision of a payment. */
        warnings: string[]
        /** The name in the request, if it differs (warning `name_differs`). */
        given_name: string | null
        /** The earlier payment or earlier item with the same payee, amount and reference (warning `possible_duplicate`). Without `duplicates_intended`, the batch is refused. */
        looks_like: {
          /** The ID of the payment. */
          payment_id: string | null
          /** The position, from 0. */
          index: number | null
          /** Only for CSV batches: the row number, as a spreadsheet shows it. */
          row: number | null
          /** When it was created. */
          created_at: string
        } | null
      })[]
    }
    PaymentBatchSummary: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      status: components["schemas"]["PaymentBatchStatus"]
      /** The name. */
      name: string | null
      /** The number of payments. */
      items_count: number
      /** The total amount, without fees. */
      total_minor: string
      /** The total fees. */
      fees_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The Merkle root of the items in their order (RFC 6962), in hexadecimal. An approval of the batch approves exactly these items. */
      merkle_root: string
      /** When it was created. */
      created_at: string
      /** When a scheduled payment is sent; null if it is sent once it is approved. */
      execute_at?: string | null
      initiated_by: components["schemas"]["Maker"]
    }
    PaymentList: string
    PaymentReceipt: {
      /** The kind. */
      type: "payment_receipt"
      /** The version of the receipt’s format. */
      version: 2
      /** The URL of the service that issued it. */
      issuer: string
      /** When it was issued. */
      issued_at: string
      /** The payment of the receipt. */
      payment: components["schemas"]["Payment"]
      /** The beneficiary. */
      beneficiary: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
        payment_rail: components["schemas"]["Rail"]
      }
      /** The policies that applied to the payment, each in the version that decided. */
      policies: {
        /** The unique ID. */
        id: string
        /** The version of the policy that decided. */
        version: number
        /** The policy version as it was signed. */
        document: Record<string, unknown>
      }[]
      /** The inputs of the decision: the payment, the usage, the initiator’s grants, the mandate, the possible approvers and the periods. Together with the policies, they reproduce the decision. */
      decision_inputs: Record<string, unknown> | null
      /** The approval with its decisions and signatures; null if none was needed. */
      approval: {
        /** The unique ID. */
        id: string
        status: components["schemas"]["ApprovalStatus"]
        /** The number of required approvals. */
        required_approvals: number
        /** Whether the requester is barred from approving. */
        separation_of_duties: boolean
        /** The decisions that count: any, or only signed ones. */
        approval_proof: "any" | "signature"
        /** The exact texts that could be signed. */
        messages: {
          /** The text to sign to approve. */
          approve: string
          /** The text to sign to reject. */
          reject: string
        }
        /** The decisions so far, in order. */
        decisions: ({
          /** The ID of the account. */
          account_id: string
          decision: components["schemas"]["ApprovalDecision"]
          /** How the decision was made: with a credential, a signature or a passkey. */
          via: "credential" | "signature" | "mandate" | "passkey"
          /** Free-text reason; null if none was given. */
          reason: string | null
          /** The wallet that signed; null for a decision with a credential. */
          signer: string | null
          /** The signature; null if there is none. */
          signature: string | null
          /** The signed text, byte for byte; null for a decision with a credential. */
          message: string | null
          /** Only for `via: passkey`: the passkey and the signed WebAuthn data. The challenge is the SHA-256 of the text. */
          passkey: {
            /** The passkey that signed. */
            credential_id: string
            /** The authenticator data of the signature, in base64url (WebAuthn). */
            authenticator_data: string
            /** The client data of the signature, in base64url (WebAuthn). */
            client_data: string
            /** The public key of the passkey. */
            public_key: {
              /** The type of the key (RFC 7517). */
              kty: string
              /** The curve (RFC 8037). */
              crv?: string
              /** The key or its first coordinate, in base64url. */
              x?: string
              /** The second coordinate of the key, in base64url. */
              y?: string
              /** The modulus of an RSA key, in base64url. */
              n?: string
              /** The exponent of an RSA key, in base64url. */
              e?: string
            }
          } | null
          /** When it was decided. */
          decided_at: string
          /** When the decision stopped counting; null while it counts. */
          voided_at: string | null
        })[]
      } | null
      /** Only for an item of a batch: the proof that it belongs to the approved root. */
      batch: {
        /** The unique ID. */
        id: string
        /** The number of payments. */
        items_count: number
        /** The Merkle root of the items in order (RFC 6962), in hexadecimal. */
        merkle_root: string
        /** The position, from 0. */
        index: number
        /** The item as the batch binds it: its JSON in RFC 8785 form. */
        leaf: string
        /** The path from the leaf to `merkle_root` (RFC 6962). */
        path: string[]
      } | null
      /** The mandate that covered it; null if none did. */
      mandate: {
        /** The wallet that signed. */
        signer: string
        /** The signature. */
        signature: string
        /** The signed text, byte for byte. */
        message: string
        /** The unique ID. */
        id: string
        /** The purpose, in words. */
        description: string
      } | null
      /** The ledger transfers of the payment. */
      ledger_transfers: ({
        /** The unique ID. */
        id: string
        /** The kind. */
        kind: "direct" | "pending" | "post" | "void"
        /** The hold that the post or void ends. */
        ends: string | null
        /** The debited ledger account. */
        debit: string
        /** The credited ledger account. */
        credit: string
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
        /** When it was created. */
        created_at: string
      })[]
      /** The rail that paid, with its receipt. */
      rail: {
        name: components["schemas"]["Rail"]
        /** The rail’s receipt. */
        receipt: string | null
      }
      /** The audit rows of the payment and its approval, with the proof that they have not changed since. */
      audit: {
        /** The head of the sealed log when the receipt was issued; null before the first seal. */
        head: components["schemas"]["AuditLogHead"] | null
        /** The rows of the audit log about the payment and its approval. */
        rows: ({
          /** The unique ID. */
          id: string
          /** The action, as `feature.verb`. */
          action: string
          /** When it happened. */
          at: string
          /** The proof that the row is in the sealed log; null until the next seal. */
          proof: components["schemas"]["AuditRowProof"] | null
        })[]
      }
      /** A detached JWS (RFC 7515, EdDSA, typ `payment-receipt`) over the RFC 8785 form of all other fields, signed by a key in /.well-known/jwks.json. */
      jws: string
    }
    PaymentSummary: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      status: components["schemas"]["PaymentStatus"]
      /** The amount that the beneficiary receives. */
      amount_minor: string
      /** The fee, charged in addition to the amount when the payment succeeds. It is set when the payment is created; "0" if there is none. */
      fee_minor: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The payment type: the rail, or your own word. */
      payment_type: string
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference: string | null
      /** The purpose, which the approver reads. */
      narrative: string | null
      initiated_by: components["schemas"]["Maker"]
      /** The decision. */
      decision: components["schemas"]["Decision"]
      /** When it was created. */
      created_at: string
      /** The beneficiary. */
      beneficiary: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
        payment_rail: components["schemas"]["Rail"]
        /** This is the first payment from this workspace to this destination. */
        first_payment: boolean
      }
      /** When a scheduled payment is sent; null if it is sent once it is approved. */
      execute_at?: string | null
    }
    PaymentTotals: {
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The number of payments. */
      count: number
      /** Minor units (cents) as a decimal string. */
      amount_minor: string
      /** The payments that were sent or are being sent, as counted in `by_day`. */
      spent: {
        /** The number of payments. */
        count: number
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
      }
      /** The count and total for each status. */
      by_status: {
        status: components["schemas"]["PaymentStatus"]
        /** The number of payments. */
        count: number
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
      }[]
      /** Payments that were sent or are being sent, by creation day in the time zone of the workspace, oldest first. */
      by_day: {
        /** The date in the workspace’s time zone. */
        date: string
        /** The number of payments. */
        count: number
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
      }[]
    }
    PendingSeparation: {
      /** The workspace that gets its own balance. */
      workspace_id: string
      /** Minor units (cents) as a decimal string. */
      amount_minor: string
      /** The exact text that confirms the separation, byte for byte. */
      message: string
      /** The account that requested it. */
      requested_by: string
      /** When the separation takes effect without confirmation. If a policy requires a signature, an unconfirmed separation is withdrawn at this time instead. */
      effective_at: string
    }
    PrepareMandate: {
      /** The address of the wallet. */
      address: string
      /** The terms of the mandate. */
      terms: {
        /** The ID of the workspace; null if the record belongs only to the account. */
        workspace_id?: string | null
        /** The grant of the API key or agent; null for a person. */
        grant_id?: string | null
        /** The purpose, in words. */
        description: string
        /** Minor units (cents) as a decimal string, above 0. */
        max_total_minor: string
        /** The maximum amount of one payment, in minor units; null for no limit. */
        max_per_payment_minor?: string | null
        /** The maximum number of payments; null for no limit. */
        max_payments?: number | null
        /** The only beneficiaries allowed; empty or absent for any. */
        beneficiary_ids?: string[] | null
        /** The only payment types or rails allowed; empty or absent for any. */
        payment_types?: string[] | null
        /** When it becomes valid. */
        valid_from?: string | null
        /** When it expires. */
        expires_at: string
      }
    }
    PreparedMandate: {
      /** The text to sign, byte for byte. */
      message: string
      /** The nonce that makes the text valid only once. */
      nonce: string
      /** When it expires. */
      expires_at: string
    }
    PreviewInvitation: {
      /** The token from the link of the invitation. */
      token: string
    }
    ProofOptions: {
      /** The challenge in base64url. It can be used once, in this session, within ten minutes. */
      challenge: string
      /** The time limit for the browser, in milliseconds (WebAuthn). */
      timeout: number
      /** The host of this site. */
      rpId: string
      /** The passkeys that existed when the session began. If empty, use a sign-in method instead. */
      allowCredentials: {
        /** The unique ID. */
        id: string
        /** The kind. */
        type: "public-key"
      }[]
      /** Whether the authenticator verifies the user (WebAuthn). */
      userVerification: "required"
    }
    ProveSession: {
      passkey: components["schemas"]["PasskeyAssertion"]
    }
    Proven: {
      /** When the identity was confirmed. For ten minutes, the session can do what requires step-up. */
      proven_at: string
    }
    ProviderAlert: {
      /** The unique ID. */
      id: string
      /** The rail. */
      rail: string
      /** The provider's own word for the outcome, or `another_amount`, `another_receiver` or `receipt_conflict`, which name the difference. */
      word: string
      /** The ID of the payment. */
      payment_id: string | null
      /** The ID of the top-up; null if there is none. */
      topup_id: string | null
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The reported amount; null if it is missing or unreadable. */
      amount_minor: string | null
      /** The administrator’s note. */
      note: string | null
      /** When it was created. */
      created_at: string
      /** When it was resolved; null while it is open. */
      resolved_at: string | null
      /** The administrator who resolved it; null while it is open. */
      resolved_by: string | null
    }
    ProviderMovement: {
      /** The unique ID. */
      id: string
      /** The provider that made the movement. */
      provider: "MPESA" | "PESALINK"
      /** `settlement`: the provider took its charges from the organisation's money, so its charges account rose. `bank_transfer`: a transfer to or from the organisation's bank. `charges`: charges taken from the money itself, such as for a transfer. */
      kind: "settlement" | "bank_transfer" | "charges"
      /** Whether money came in or went out. */
      direction: "in" | "out"
      /** The organisation's number or account at the provider. */
      account: string | null
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** Minor units (cents) as a decimal string. */
      amount_minor: string
      /** When the money moved, according to the provider. */
      moved_at: string
      /** The administrator’s note. */
      note: string
      /** The administrator who recorded it. */
      named_by: string
      /** The comparison of balances that includes the movement. Null until the next comparison. */
      reconciliation_id: string | null
      /** When it was created. */
      created_at: string
    }
    PushKey: {
      /** The `applicationServerKey` for `pushManager.subscribe()` (VAPID). */
      public_key: string
    }
    PushSubscription: {
      /** The unique ID. */
      id: string
      /** When it was created. */
      created_at: string
      /** The user agent of the browser or program; null if unknown. */
      user_agent: string | null
    }
    RaisedMember: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The ID of the account. */
      account_id: string
      /** The verified email address; null if there is none. */
      email: string | null
      /** The name that people see. */
      display_name: string | null
      /** The first linked wallet, for members without a name or an email. */
      wallet_address: string | null
      role: components["schemas"]["Role"]
      /** The status. */
      status: "active" | "suspended" | "removed"
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** The previous role. */
      role_before: components["schemas"]["Role"]
      /** The previous status. */
      status_before: "active" | "suspended"
      /** When the role was first raised there. */
      raised_at: string
    }
    Readiness: {
      /** The status. */
      status: "ok"
      /** The paused rails, each with the reason. */
      rails?: Record<string, string>
    }
    Reconciliation: {
      /** The unique ID. */
      id: string
      /** The provider whose statement was compared. */
      provider: "MPESA" | "PESALINK"
      /** The source of the statement. */
      source: string
      /** The account that the statement is for; null if it names none. */
      account: string | null
      /** The first moment that the statement covers. */
      period_start: string
      /** The last moment that the statement covers. */
      period_end: string
      /** The number of lines in the statement. */
      lines: number
      /** The number of lines that match the books. */
      matched: number
      /** The number of entries that differ. */
      differences: number
      /** Minor units (cents); negative for outgoing money. */
      booked_minor: string
      /** Minor units (cents); negative for outgoing money. */
      stated_minor: string
      /** The provider's charges, which are in neither total. For a comparison of balances, the decrease of its charges accounts. */
      charges_minor: string
      /** The fees of this service in the period. Null for comparisons by earlier releases. */
      fees_minor: string | null
      /** Why the statement proves nothing about unknown payments; null if there are none. */
      unproven: string | null
      /** The account or the shell user that started the comparison. */
      requested_by: string
      /** When it was created. */
      created_at: string
    }
    ReconciliationDifference: {
      /** The unique ID. */
      id: string
      /** The statement that contains it. */
      reconciliation_id: string
      /** How the statement and the books differ. */
      kind: "amount_differs" | "not_in_statement" | "not_in_our_books" | "ended_otherwise" | "under_way" | "listed_twice" | "reversed" | "outcome_unknown" | "balance_differs"
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The ID of the payment. */
      payment_id: string | null
      /** The ID of the top-up; null if there is none. */
      topup_id: string | null
      /** The amount that this service booked, in minor units. */
      booked_minor: string | null
      /** The amount in the provider’s statement, in minor units. */
      stated_minor: string | null
      /** The likely reason. */
      reason: string
      /** The next step for the administrator. */
      action: string
      /** How the payment ended according to the statement; `accept` applies this outcome. Null if a person must check. */
      offered_outcome: "succeeded" | "failed" | null
      /** When it was resolved; null while it is open. */
      resolved_at: string | null
      /** The administrator who resolved it; null while it is open. */
      resolved_by: string | null
      /** The administrator’s note. */
      note: string | null
      /** When it was created. */
      created_at: string
    }
    ReconciliationDifferences: {
      /** The items of this page. */
      data: components["schemas"]["ReconciliationDifference"][]
    }
    RefusedPayment: {
      /** The ID of the refused payment. No payment was created. */
      id: string
      /** The workspace that would have paid. */
      workspace_id: string
      initiated_by: components["schemas"]["Maker"]
      /** The beneficiary of the refused payment. Null if a whole batch was refused. */
      beneficiary: {
        /** The ID of the beneficiary. */
        id: string
        /** The current name of the beneficiary. */
        display_name: string
        /** The last characters of the destination. */
        destination_mask: string
      } | null
      /** The requested amount in minor units (cents). For a batch, the total. */
      amount_minor: string
      /** The currency of the amount. */
      currency: string
      /** The account reference in the request. */
      account_reference: string | null
      /** The error code of the answer. */
      error: components["schemas"]["ErrorCode"]
      /** The reason, for people. It never states the balance. */
      message: string
      /** The decision without its trace, if a spending rule refused a single payment. `remedy` describes the change that would let it pass. */
      decision: components["schemas"]["Decision"] | null
      /** The `X-Request-Id` of the answer. */
      request_id: string
      /** When the payment was refused. */
      created_at: string
    }
    ReinstateWorkspace: {
      /** Free-text reason. */
      reason?: string
    }
    RejectAdjustment: {
      /** Free-text reason. */
      reason?: string
    }
    RepeatedBatchItem: {
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor?: string
      /** Defaults to the rail of the beneficiary. */
      payment_type?: string
      /** The purpose, as an external purpose code of ISO 20022 such as SALA. */
      purpose_code?: string | null
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference?: string | null
      /** The purpose, which the approver reads. */
      narrative?: string | null
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
      /** The index of the item in the earlier batch, from 0. */
      batch_index: number
      /** Whether to leave the item out of the new batch. */
      omit?: boolean
    }
    ResolveDifference: {
      /** The administrator’s note. */
      note: string
      /** Whether to end the payment with `offered_outcome`. `failed` costs the organisation and may wait for a second administrator, who sends the same request (202). */
      accept?: boolean
    }
    ResolveDifferences: {
      /** The open differences; each gets its own audit log entry. Outcomes can be accepted only one by one. */
      ids: string[]
      /** The administrator’s note. */
      note: string
    }
    ResolvePayment: {
      /** `succeeded` or `failed` ends a payment that is `unknown`. `charged` charges a late success to the account; `written_off` does not. */
      outcome: "succeeded" | "failed" | "charged" | "written_off"
      /** The provider's answer and its source, such as a statement line or a ticket, for the audit log. Do not include phone or account numbers. */
      evidence: string
      /** The provider's receipt, if the payment succeeded. */
      provider_receipt?: string
    }
    ResolveProviderAlert: {
      /** The administrator’s note. */
      note: string
    }
    ResolveSuspense: {
      /** `adjusted`: an adjustment gave the money to an account, so it moves from suspense to `adjustments`. `reversed`: the provider reversed it. `explained`: it was booked elsewhere or never moved. */
      outcome: "adjusted" | "reversed" | "explained"
      /** The administrator’s note. */
      note: string
    }
    ResolveSuspenseItems: {
      /** `adjusted`: an adjustment gave the money to an account, so it moves from suspense to `adjustments`. `reversed`: the provider reversed it. `explained`: it was booked elsewhere or never moved. */
      outcome: "adjusted" | "reversed" | "explained"
      /** The administrator’s note. */
      note: string
      /** The open items; each gets its own entry in the audit log. */
      ids: string[]
    }
    RevocationMessage: {
      /** The text to sign, byte for byte. */
      message: string
      /** When it expires. */
      expires_at: string
    }
    RevokeAllGrants: {
      /** The kind of grants to revoke. */
      kind: "api_key" | "oauth"
    }
    RevokeMandate: {
      /** An EIP-191 `personal_sign` signature of the unchanged message. */
      signature?: string
      /** The wallet that signed. Required only for contract wallets. */
      address?: string
    }
    Revoked: Record<string, unknown>
    RotateApiKey: {
      /** How many seconds the old key still works beside the new one. Defaults to 0. */
      overlap_seconds?: number
    }
    SealedLog: {
      /** The newest signed head of the log. */
      head: components["schemas"]["AuditLogHead"]
      /** The proof that the log with `from` seals is a prefix of this log (RFC 6962, section 2.1.2). Null without `from`. */
      consistency: {
        /** The number of seals in the earlier log. */
        from: number
        /** The audit path from the leaf to the root (RFC 6962). */
        path: string[]
      } | null
    }
    SeparateBalance: {
      /** The amount of the shared balance that moves to the new balance of the workspace; `"0"` moves nothing. */
      amount_minor: string
    }
    SeparationView: {
      /** The workspace. */
      workspace: components["schemas"]["Workspace"]
      /** The membership of the account. */
      membership: {
        role: components["schemas"]["Role"]
        /** The status. */
        status: "active" | "invited" | "suspended"
      }
      /** The pending separation; null if there is none. */
      pending_separation: components["schemas"]["PendingSeparation"] | null
    }
    Session: {
      /** The unique ID. */
      id: string
      /** The status. */
      status: "active" | "revoked" | "expired"
      /** Whether this is the session of the request. */
      current: boolean
      /** The IP address of the request; null if unknown. */
      ip: string | null
      /** The user agent of the browser or program; null if unknown. */
      user_agent: string | null
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute. */
      last_used_at: string
      /** When the session ends without further use. Each use postpones it, up to the maximum age of a session. */
      expires_at: string
      /** When it was revoked; null until then. */
      revoked_at: string | null
    }
    SignedIn: {
      /** The result of the sign-in. */
      outcome: "signed_in" | "account_created" | "linked" | "already_linked"
      /** The account that is signed in. */
      account: components["schemas"]["Account"]
      /** The new session; null if none was created. */
      session: {
        /** When the session ends without further use. Each use postpones it, up to the maximum age of a session. */
        expires_at: string
      } | null
    }
    SigningMessage: {
      /** The text to sign, byte for byte. */
      message: string
      /** The warnings in the text, by type, the most severe first. */
      facts: components["schemas"]["ApprovalFact"][]
      /** The number of payments that are decided together. */
      payments_count: number
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The result of the approval. It does not show who decided. */
      status: components["schemas"]["ApprovalStatus"]
      /** When it expires. */
      expires_at: string
    }
    Simulate: {
      /** An ID that begins with `ben_`. */
      beneficiary_id: string
      /** Minor units (cents) as a decimal string, above 0. */
      amount_minor: string
      /** Defaults to the rail of the beneficiary. */
      payment_type?: string
      /** The purpose, as an external purpose code of ISO 20022 such as SALA. */
      purpose_code?: string | null
      /** The reference on the payment. For a paybill, the account to pay. */
      account_reference?: string | null
      /** The purpose, which the approver reads. */
      narrative?: string | null
      /** The mandate that the payment names; null if none. */
      mandate_id?: string | null
      /** Up to 20 keys and values of 200 characters, for your own references. */
      metadata?: Record<string, string>
      /** The earlier payment that this one intentionally repeats. Without it, the request may fail with 409 and `reason: "possible_duplicate"`. */
      duplicate_of?: string | null
      /** The outcome if this payment looks like an earlier one, in addition to the rules of policies and the credential. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. */
      on_duplicate?: "warn" | "confirm" | "require_approval" | "deny"
      /** Evaluates a payment scheduled for this time, by its day and month. Limit usage and the balance are not considered, because they are checked at that time. */
      execute_at?: string | null
      /** A policy to evaluate as if it existed. */
      policy?: {
        /** The policy applies to payments of these types or rails. An empty list means every type. */
        payment_types?: string[] | null
        /** The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary. */
        beneficiary_ids?: string[] | null
        /** The maximum amount of one payment. */
        per_payment_limit_minor?: string | null
        /** The maximum total of all payments in one day, in the workspace's time zone. */
        daily_limit_minor?: string | null
        /** The maximum total of all payments in one month, in the workspace's time zone. */
        monthly_limit_minor?: string | null
        /** The maximum total of all payments since a version of the policy first set this limit. It never resets, even if the limit changes. */
        total_limit_minor?: string | null
        /** Payments of this amount or more need approval. */
        approval_threshold_minor?: string | null
        /** The number of required approvals. Without `approval_threshold_minor`, they are required for every payment. Defaults to 1 with a threshold, otherwise to 0. */
        required_approval_count?: number | null
        /** The initiator of a payment may not approve it. */
        separation_of_duties?: boolean | null
        /** The approvals that count: `any`, or `signature` for only those signed by a passkey or a wallet. It applies to every approval that such a payment needs. */
        approval_proof?: "any" | "signature" | null
        /** The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy. */
        approver_ids?: string[] | null
        /** How many seconds back the service looks for a payment of the same amount and reference to the same payee. If null with `on_duplicate`, the window of the service applies. */
        duplicate_window_seconds?: number | null
        /** The outcome for payments that look like an earlier one within the window. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. Null with a window means `warn`. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
        /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. */
        new_payees?: components["schemas"]["Outcome"] | null
        /** The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ. */
        payee_verification?: "off" | "warn" | "require_approval" | "deny" | null
        /** The name. */
        name?: string
      }
    }
    Simulation: {
      outcome: components["schemas"]["Outcome"]
      /** An explanation for people, in one sentence. It names the first rule that refused the payment, or the rule that requires the most approvals. */
      explanation: string
      /** The number of required approvals. */
      required_approvals: number
      /** Whether the requester is barred from approving. */
      separation_of_duties: boolean
      /** The approvals that count: `any`, or only those with a `signature`. */
      approval_proof: "any" | "signature"
      /** The only accounts whose approvals count; absent for all approvers. */
      approver_ids?: string[]
      /** The number of approvals that the mandate gives: 0 or 1. */
      approvals_by_mandate: number
      /** The policies that applied, each in the version that decided. */
      policy_versions: {
        /** The unique ID. */
        id: string
        /** The version of the policy that decided. */
        version: number
      }[]
      /** Warnings that do not refuse the payment. */
      warnings: ({
        /** The code of the warning. */
        code: "possible_duplicate"
        /** The ID of the payment. */
        payment_id: string
        /** When it was created. */
        created_at: string
      } | {
        /** A key or an agent created the beneficiary, or its name was changed recently, and no person has confirmed it since. */
        code: "new_payee" | "changed_payee"
        by: components["schemas"]["Maker"]
        /** When the earlier payment was created. */
        at: string
      } | {
        /** The unpaid beneficiary’s name resembles that of a paid one with another number. */
        code: "similar_name"
        /** The ID of the beneficiary. */
        beneficiary_id: string
        /** The name that the warning is about. */
        name: string
      } | {
        /** The name in the request differs from the name of the paid beneficiary. */
        code: "name_differs"
        /** The name that the warning is about. */
        name: string
        /** The name in the request. */
        given_name: string
      } | {
        /** The rail has not confirmed the name of the beneficiary. */
        code: "name_mismatch"
        /** The result of comparing the name with the registered name. */
        verification: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
        /** The name that the rail reports. */
        name: string | null
      } | {
        /** The amount is more than five times the usual amount for the beneficiary. */
        code: "unusual_amount"
        /** Minor units (cents) as a decimal string. */
        typical_amount_minor: string
      })[]
      /** The number of evaluated rules. */
      rules_considered?: number
      /** The rules in the order of evaluation. If there are more than 50, only the decisive rules and those closest to their limit. Omitted in lists and events. */
      trace?: ({
        /** The source of the rule. */
        source: {
          /** The kind of rule: a policy, a grant, a mandate, a capability or a rail. */
          kind: "policy" | "grant" | "mandate" | "capability" | "rail"
          /** The unique ID. */
          id: string | null
          /** The name. */
          name: string | null
        }
        rule: components["schemas"]["Rule"]
        outcome: components["schemas"]["Outcome"]
        /** Minor units (cents) as a decimal string. */
        limit_minor?: string
        /** Minor units (cents) as a decimal string. */
        used_minor?: string
        /** Minor units (cents) as a decimal string. */
        requested_minor?: string
        /** When the usage resets to 0. */
        resets_at?: string
        /** The number of required approvals. */
        required_approvals?: number
        /** The number of people who can approve. */
        eligible_approvers?: number
        /** The only accounts whose approvals count. */
        approver_ids?: string[]
        /** Only approvals signed by a passkey or wallet count. */
        approval_proof?: "signature"
        /** Whether this rule decided the outcome. */
        decisive?: boolean
      })[]
      /** The smallest change that would let the payment pass. A denied payment passes if it is no longer denied: it may then need an approval. A payment that is not denied passes if it needs no approval. */
      remedy?: {
        /** The largest amount that would not be denied now if nothing else changed. It may need an approval. Null if there is none, or only one below an approval threshold that the requested amount reaches. */
        max_amount_minor: string | null
        /** The number of rules that must change for the payment to pass. */
        changes_count: number
        /** The rules that must change, up to 50. All rules counted in `changes_count` must change. */
        changes: ({
          /** The source of the rule. */
          source: {
            /** The kind of rule: a policy, a grant, a mandate, a capability or a rail. */
            kind: "policy" | "grant" | "mandate" | "capability" | "rail"
            /** The unique ID. */
            id: string | null
            /** The name. */
            name: string | null
          }
          rule: components["schemas"]["Rule"]
          /** Minor units (cents) as a decimal string. */
          to_minor?: string
        })[]
        /** When the same payment would pass without a change; null if never. */
        passes_at: string | null
      }
      /** The fee of the payment. */
      fee_minor: string
    }
    SpendingControls: {
      /** Minor units (cents) as a decimal string. */
      per_payment_limit_minor?: string
      /** Minor units (cents) as a decimal string. */
      daily_limit_minor?: string
      /** Minor units (cents) as a decimal string. */
      monthly_limit_minor?: string
      /** Minor units (cents) as a decimal string. */
      total_limit_minor?: string
      /** Minor units (cents) as a decimal string. */
      approval_threshold_minor?: string
      /** The only payment types or rails allowed; empty or absent for any. */
      payment_types?: string[]
      /** The only beneficiaries allowed; empty or absent for any. */
      beneficiary_ids?: string[]
      new_payees?: components["schemas"]["Outcome"]
      /** The outcome for payments that look like an earlier one. */
      on_duplicate?: "warn" | "confirm" | "require_approval" | "deny"
    }
    SpendingPolicy: {
      /** The unique ID. */
      id: string
      /** The name. */
      name: string
      /** The payments that the policy applies to: all, or those of one key or agent and its descendants. A key or agent that has `policy.create` without `policy.manage` can bind only itself. */
      binds: "all" | {
        /** The grant of the API key or agent. */
        grant_id: string
      }
      /** The policy applies to payments of these types or rails. An empty list means every type. */
      payment_types: string[]
      /** The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary. */
      beneficiary_ids: string[]
      /** The maximum amount of one payment, in minor units; null for no limit. */
      per_payment_limit_minor: string | null
      /** The daily limit, in minor units; null for no limit. */
      daily_limit_minor: string | null
      /** The monthly limit, in minor units; null for no limit. */
      monthly_limit_minor: string | null
      /** The limit for all payments since it was first set, in minor units. It never resets; null for no limit. */
      total_limit_minor: string | null
      /** The amount from which a person must approve, in minor units; null for no threshold. */
      approval_threshold_minor: string | null
      /** The number of people who must approve. */
      required_approval_count: number
      /** Whether the requester is barred from approving. */
      separation_of_duties: boolean
      /** The decisions that count: any, or only signed ones. */
      approval_proof: "any" | "signature"
      /** The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy. */
      approver_ids: string[]
      /** How many seconds back a payment of the same amount counts as a duplicate; null for the default. */
      duplicate_window_seconds: number | null
      /** The outcome for payments that look like an earlier one. */
      on_duplicate: "warn" | "confirm" | "require_approval" | "deny" | null
      /** The outcome for payments to a beneficiary that no person has confirmed. */
      new_payees: components["schemas"]["Outcome"] | null
      /** The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ. */
      payee_verification: "off" | "warn" | "require_approval" | "deny" | null
      /** Warnings about payments that the policy may seem to stop but does not. */
      warnings: {
        /** The code of the warning. */
        code: "custom_payment_types"
        /** The text of the warning, for people. */
        message: string
      }[]
      /** The status. */
      status: "active" | "archived"
      /** The version, which increases by one with each change. */
      version: number
      /** A pending change that makes the policy less strict. It takes effect at `effective_at`, or when another approver confirms it. */
      pending_change: {
        /** The requested fields with their new values, or `status: archived`. */
        change: {
          /** The policy applies to payments of these types or rails. An empty list means every type. */
          payment_types?: string[]
          /** The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary. */
          beneficiary_ids?: string[]
          /** The maximum amount of one payment, in minor units; null for no limit. */
          per_payment_limit_minor?: string | null
          /** The daily limit, in minor units; null for no limit. */
          daily_limit_minor?: string | null
          /** The monthly limit, in minor units; null for no limit. */
          monthly_limit_minor?: string | null
          /** The limit for all payments since it was first set, in minor units. It never resets; null for no limit. */
          total_limit_minor?: string | null
          /** The amount from which a person must approve, in minor units; null for no threshold. */
          approval_threshold_minor?: string | null
          /** The number of people who must approve. */
          required_approval_count?: number | null
          /** Whether the requester is barred from approving. */
          separation_of_duties?: boolean
          /** The decisions that count: any, or only signed ones. */
          approval_proof?: "any" | "signature"
          /** The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy. */
          approver_ids?: string[]
          /** How many seconds back a payment of the same amount counts as a duplicate; null for the default. */
          duplicate_window_seconds?: number | null
          /** The outcome for payments that look like an earlier one. */
          on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
          /** The outcome for payments to a beneficiary that no person has confirmed. */
          new_payees?: components["schemas"]["Outcome"] | null
          /** The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ. */
          payee_verification?: "off" | "warn" | "require_approval" | "deny" | null
          /** The name. */
          name?: string
          /** The status. */
          status?: "archived"
        }
        /** The complete current terms. */
        before: components["schemas"]["SpendingPolicyTerms"]
        /** The complete terms that take effect. Null if the policy is archived. */
        result: components["schemas"]["SpendingPolicyTerms"] | null
        /** The policy version that the change is based on. A newer version gives the change a new result, a new text and another 24 hours. If the result is no longer less strict, the change is withdrawn. */
        version: number
        /** The text to sign with a passkey or wallet, if the policy requires signatures. */
        message: string
        /** The account that requested it. */
        requested_by: string
        /** When the change takes effect, unless it is confirmed or withdrawn earlier. */
        effective_at: string
        /** Whether the caller can confirm the change now. Present only when one policy is read. */
        confirmable?: boolean
      } | null
      /** The amounts that count towards the limits of the current day and month. With a total limit, also the amount since that limit was first set. Present only when policies are read. */
      usage?: {
        /** Minor units (cents) as a decimal string. */
        today_minor: string
        /** Minor units (cents) as a decimal string. */
        month_minor: string
        /** Minor units (cents) as a decimal string. */
        total_minor?: string
      }
      created_by: components["schemas"]["Maker"]
      /** The person, key or agent that made the last change; null if there is none. */
      changed_by: components["schemas"]["Maker"] | null
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
    }
    SpendingPolicyTerms: {
      /** The name. */
      name: string
      /** The policy applies to payments of these types or rails. An empty list means every type. */
      payment_types: string[]
      /** The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary. */
      beneficiary_ids: string[]
      /** The maximum amount of one payment, in minor units; null for no limit. */
      per_payment_limit_minor: string | null
      /** The daily limit, in minor units; null for no limit. */
      daily_limit_minor: string | null
      /** The monthly limit, in minor units; null for no limit. */
      monthly_limit_minor: string | null
      /** The limit for all payments since it was first set, in minor units. It never resets; null for no limit. */
      total_limit_minor: string | null
      /** The amount from which a person must approve, in minor units; null for no threshold. */
      approval_threshold_minor: string | null
      /** The number of people who must approve. */
      required_approval_count: number
      /** Whether the requester is barred from approving. */
      separation_of_duties: boolean
      /** The decisions that count: any, or only signed ones. */
      approval_proof: "any" | "signature"
      /** The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy. */
      approver_ids: string[]
      /** How many seconds back a payment of the same amount counts as a duplicate; null for the default. */
      duplicate_window_seconds: number | null
      /** The outcome for payments that look like an earlier one. */
      on_duplicate: "warn" | "confirm" | "require_approval" | "deny" | null
      /** The outcome for payments to a beneficiary that no person has confirmed. */
      new_payees: components["schemas"]["Outcome"] | null
      /** The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ. */
      payee_verification: "off" | "warn" | "require_approval" | "deny" | null
    }
    Statement: {
      /** The first day or entry, inclusive. */
      from: string
      /** The last day, inclusive. */
      to: string
      /** The IANA time zone that decides when a day and a month begin. */
      time_zone: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** When the statement was read, if its last day has not ended yet; otherwise null. More can be booked until then, and the closing balance is the balance at that time. */
      unfinished_at: string | null
      /** The incoming total of the period; null until it has been calculated. */
      in_minor: string | null
      /** The outgoing total of the period; null until it has been calculated. */
      out_minor: string | null
      /** The totals of the entries. */
      totals: {
        /** The beneficiaries with the largest amounts, up to 1,000. */
        by_payee: {
          /** The unique ID. */
          id: string
          /** The name that people see. */
          display_name: string
          /** Minor units (cents) as a decimal string. */
          in_minor: string
          /** Minor units (cents) as a decimal string. */
          out_minor: string
          /** The number of entries. */
          entries: number
        }[]
        /** The totals by type of entry. */
        by_type: ({
          /** The kind. */
          type: "topup" | "payment" | "payment_return" | "fee" | "adjustment"
          /** Minor units (cents) as a decimal string. */
          in_minor: string
          /** Minor units (cents) as a decimal string. */
          out_minor: string
          /** The number of entries. */
          entries: number
        })[]
      } | null
      /** Whether the totals of the period have not been calculated yet, such as after an upgrade. `totals`, `in_minor` and `out_minor` are then null. */
      totals_pending: boolean
      /** Minor units (cents) as a decimal string. */
      opening_balance_minor: string
      /** Minor units (cents) as a decimal string. */
      closing_balance_minor: string
      /** The ledger entries, oldest first. */
      entries: components["schemas"]["StatementEntry"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    StatementEntry: {
      /** When it happened. */
      at: string
      /** `payment_return`: a payment that the rail sent back. `adjustment` includes the separation of a balance, which the history calls `separation`. */
      type: "topup" | "payment" | "payment_return" | "fee" | "adjustment"
      /** The paid beneficiary; null if the entry is not a payment. */
      payee: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
      } | null
      /** The rail that pays the beneficiary. */
      payment_rail: components["schemas"]["Rail"] | null
      /** The ISO 20022 external purpose code of the payment; null if none. */
      purpose_code: string | null
      /** The batch of the payment. */
      batch: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string | null
      } | null
      /** The `Idempotency-Key` of the request that created the payment, its batch or the top-up. */
      idempotency_key: string | null
      /** The batch that contains the payment; null for a single payment. */
      batch_id: string | null
      /** The index of the payment in its batch, from 0. */
      batch_index: number | null
      /** The signed amount; negative for outgoing money. */
      amount_minor: string
      /** The fee of the payment, which is a separate entry (`fee`); "0" if there is none. */
      fee_minor: string
      /** The reference on the payment; null if there is none. */
      reference: string | null
      /** The purpose, which the approver reads. */
      narrative: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The requester. */
      requested_by: string | null
      /** The display name of the requester, or their first wallet if there is none. */
      requested_by_name: string | null
      /** The label of the API key or agent that requested it. */
      requested_through: string | null
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The accounts that approved it; empty if no approval was needed. */
      approved_by: string[]
      /** The names of the approvers, in the order of `approved_by`. */
      approved_by_names: (string | null)[]
      /** The ID of the payment. */
      payment_id: string | null
      /** The ID of the top-up; null if there is none. */
      topup_id: string | null
      /** Minor units (cents) as a decimal string. */
      balance_after_minor: string
    }
    SuspendWorkspace: {
      /** Free-text reason. */
      reason?: string
    }
    SuspenseItem: {
      /** The unique ID. */
      id: string
      /** The rail. */
      rail: string
      /** Whether money came in or went out. */
      direction: "in" | "out"
      /** Why the item is in suspense. */
      reason: "superseded_attempt" | "amount_mismatch" | "unreadable_amount" | "receipt_taken" | "contradiction" | "unbookable_delivery" | "not_in_our_books" | "unknown_reference" | "account_closed"
      /** Only for deposits: the name of the payer, as the provider reports it. */
      sender_name: string | null
      /** Only for deposits: the account number that the payer entered. */
      payment_reference: string | null
      /** When the money was paid to the provider. */
      paid_at: string | null
      /** The ID of the payment. */
      payment_id: string | null
      /** The ID of the top-up; null if there is none. */
      topup_id: string | null
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The reported amount; null if it is missing or unreadable. */
      amount_minor: string | null
      /** Whether the amount is booked to the suspense account. */
      booked: boolean
      /** The resolution; null while the item is open. */
      outcome: "adjusted" | "reversed" | "explained" | "assigned" | null
      /** The administrator’s note. */
      note: string | null
      /** The administrator who resolved it; null while it is open. */
      resolved_by: string | null
      /** An outcome that needs a second administrator, who confirms it by sending the same outcome. */
      proposal: {
        /** The resolution. */
        outcome: "adjusted" | "reversed" | "explained" | "assigned"
        /** An administrator's account, or `shell:` and a user name. */
        by: string
      } | null
      /** When it was created. */
      created_at: string
      /** When it was resolved; null while it is open. */
      resolved_at: string | null
    }
    SuspenseItems: {
      /** The items of this page. */
      data: components["schemas"]["SuspenseItem"][]
    }
    SwitchWorkspace: {
      /** An ID that begins with `wsp_`. */
      workspace_id: string
    }
    Topup: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      status: components["schemas"]["TopupStatus"]
      /** The requested amount; null for a deposit of any amount. */
      amount_minor: string | null
      /** The amount credited when the top-up succeeded. Later deposits under the same account number are credited too and appear in the history. */
      received_minor: string | null
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** MPESA_STK: a prompt for `amount_minor` on the phone with `phone_number`. PESALINK: PesaLink from a bank; `instructions` contains the account to pay to. MPESA_PAYBILL: M-PESA paybill; `instructions` contains the account to pay to. */
      method: "MPESA_STK" | "PESALINK" | "MPESA_PAYBILL"
      /** The last digits of the phone that received the prompt; null for a deposit. */
      phone_number_mask: string | null
      /** The account to pay to, and the account number or reference to use. Spaces and case are ignored. */
      instructions: {
        /** The paybill to pay to. */
        paybill: string
        /** The account number to pay to. */
        account_number: string
      } | {
        /** The code of the bank, for an account number; one of `GET /v1/banks`. */
        bank_code: string
        /** The account number to pay to. */
        account_number: string
        /** The reference to pay with. */
        reference: string
      } | null
      /** When the top-up expires. Money that arrives later is still credited. */
      expires_at: string
      /** The `Idempotency-Key` of the request that created it. */
      idempotency_key: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The failure code of this service; null unless it failed. The reference of codes lists who must act. */
      failure_code: components["schemas"]["FailureCode"] | null
      /** The reason of the failure, for people; null unless it failed. */
      failure_message: string | null
      /** The rail's own error code. */
      provider_code: string | null
      /** When it was created. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When the record reached its final status; null until then. */
      completed_at: string | null
    }
    TrialBalance: {
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The balance of each ledger account. */
      lines: {
        /** Minor units (cents) as a decimal string. */
        debits_minor: string
        /** Minor units (cents) as a decimal string. */
        credits_minor: string
        /** Minor units (cents) as a decimal string. */
        pending_debits_minor: string
        /** Minor units (cents) as a decimal string. */
        pending_credits_minor: string
        /** A system account, or `customers` for all customer accounts together. */
        account: string
      }[]
      /** The totals of the entries. */
      totals: {
        /** Minor units (cents) as a decimal string. */
        debits_minor: string
        /** Minor units (cents) as a decimal string. */
        credits_minor: string
        /** Minor units (cents) as a decimal string. */
        pending_debits_minor: string
        /** Minor units (cents) as a decimal string. */
        pending_credits_minor: string
      }
      /** Whether debits equal credits, for both posted and pending amounts. */
      balanced: boolean
    }
    UnlinkedIdentity: {
      /** The unique ID. */
      id: string
      /** The provider that vouches for it or sent it. */
      provider: "google" | "github" | "wallet"
      /** The subject at the provider. For a wallet, its EIP-55 address. */
      subject: string
      /** The chain of a contract wallet; otherwise null. The same address on another chain is another identity. */
      chain_id: number | null
      /** The verified email address; null if there is none. */
      email: string | null
      /** Whether the provider has verified the email address. */
      email_verified: boolean
      /** The name that people see. */
      display_name: string | null
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
      /** The grant that linked the identity. Revoking that grant ends the sessions of the identity and unlinks it, unless it is the last sign-in method of the account. Null if a person linked it. */
      linked_by_grant_id: string | null
      /** Null for API keys, which cannot see what others added. */
      began_here: components["schemas"]["BeganHere"] | null
    }
    UpdateAccount: {
      /** The name that people see. */
      display_name?: string | null
    }
    UpdateApiKey: {
      /** The name. */
      name?: string
      /** Omitted fields keep their value; null removes a limit. */
      spending_controls?: {
        /** The maximum amount of one payment. If absent, this grant has no such limit. */
        per_payment_limit_minor?: string | null
        /** The maximum total of its payments in one day, in the workspace's time zone. If absent, this grant has no such limit. */
        daily_limit_minor?: string | null
        /** The maximum total of its payments in one month, in the workspace's time zone. If absent, this grant has no such limit. */
        monthly_limit_minor?: string | null
        /** The maximum total of all its payments since the grant was created, for a single job. It never resets; only a person can raise it. If absent, this grant has no such limit. */
        total_limit_minor?: string | null
        /** Payments of this amount or more need an approval. If absent, this grant has no such limit. */
        approval_threshold_minor?: string | null
        /** The allowed payment types or rails. */
        payment_types?: string[] | null
        /** The allowed beneficiaries. */
        beneficiary_ids?: string[] | null
        /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. Defaults to `require_approval`. */
        new_payees?: components["schemas"]["Outcome"] | null
        /** The outcome for payments with the same payee, amount and reference as an earlier one. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. If absent, this grant has no such rule. Agents that a person approves by OAuth get `confirm`. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      }
    }
    UpdateBeneficiary: {
      /** The kind. */
      type?: string
      /** The name that people see. */
      display_name?: string
      /** The legal name, which is compared with the registered name; null if none was given. */
      legal_name?: string | null
      /** Whether each payment must have a reference. */
      account_reference_required?: boolean
      /** Replaces all metadata. */
      metadata?: Record<string, string>
      /** The new status. */
      status?: "active" | "frozen"
    }
    UpdateGrant: {
      /** Omitted fields keep their value; null removes a limit. */
      spending_controls?: {
        /** The maximum amount of one payment. If absent, this grant has no such limit. */
        per_payment_limit_minor?: string | null
        /** The maximum total of its payments in one day, in the workspace's time zone. If absent, this grant has no such limit. */
        daily_limit_minor?: string | null
        /** The maximum total of its payments in one month, in the workspace's time zone. If absent, this grant has no such limit. */
        monthly_limit_minor?: string | null
        /** The maximum total of all its payments since the grant was created, for a single job. It never resets; only a person can raise it. If absent, this grant has no such limit. */
        total_limit_minor?: string | null
        /** Payments of this amount or more need an approval. If absent, this grant has no such limit. */
        approval_threshold_minor?: string | null
        /** The allowed payment types or rails. */
        payment_types?: string[] | null
        /** The allowed beneficiaries. */
        beneficiary_ids?: string[] | null
        /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. Defaults to `require_approval`. */
        new_payees?: components["schemas"]["Outcome"] | null
        /** The outcome for payments with the same payee, amount and reference as an earlier one. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. If absent, this grant has no such rule. Agents that a person approves by OAuth get `confirm`. */
        on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      }
      /** Whether the grant is frozen: it still authenticates, but cannot move money. */
      frozen?: boolean
    }
    UpdateMember: {
      role?: components["schemas"]["Role"]
      /** The new status. */
      status?: "active" | "suspended"
    }
    UpdateNotificationSettings: {
      /** An approval waits for you. A reminder follows at half of its time. */
      approvals?: {
        /** Whether to send an email to each verified address of the account. */
        email?: boolean
        /** Whether to push to the browsers that subscribed to notifications. */
        push?: boolean
      }
      /** A payment batch that you requested ended with failures. */
      lists?: {
        /** Whether to send an email to each verified address of the account. */
        email?: boolean
      }
      /** The balance does not cover the scheduled payments. */
      balance?: {
        /** Whether to send an email to each verified address of the account. */
        email?: boolean
      }
      /** A policy change waits for confirmation. */
      policies?: {
        /** Whether to send an email to each verified address of the account. */
        email?: boolean
      }
      /** The language of the emails. */
      language?: "en" | "sw"
    }
    UpdateSpendingPolicy: {
      /** The version that you have read. Another version is answered with 409. */
      version: number
      /** The name. */
      name?: string
      /** The policy applies to payments of these types or rails. An empty list means every type. */
      payment_types?: string[] | null
      /** The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary. */
      beneficiary_ids?: string[] | null
      /** The maximum amount of one payment. */
      per_payment_limit_minor?: string | null
      /** The maximum total of all payments in one day, in the workspace's time zone. */
      daily_limit_minor?: string | null
      /** The maximum total of all payments in one month, in the workspace's time zone. */
      monthly_limit_minor?: string | null
      /** The maximum total of all payments since a version of the policy first set this limit. It never resets, even if the limit changes. */
      total_limit_minor?: string | null
      /** Payments of this amount or more need approval. */
      approval_threshold_minor?: string | null
      /** The number of required approvals. Without `approval_threshold_minor`, they are required for every payment. Defaults to 1 with a threshold, otherwise to 0. */
      required_approval_count?: number | null
      /** The initiator of a payment may not approve it. */
      separation_of_duties?: boolean | null
      /** The approvals that count: `any`, or `signature` for only those signed by a passkey or a wallet. It applies to every approval that such a payment needs. */
      approval_proof?: "any" | "signature" | null
      /** The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy. */
      approver_ids?: string[] | null
      /** How many seconds back the service looks for a payment of the same amount and reference to the same payee. If null with `on_duplicate`, the window of the service applies. */
      duplicate_window_seconds?: number | null
      /** The outcome for payments that look like an earlier one within the window. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. Null with a window means `warn`. */
      on_duplicate?: "warn" | "confirm" | "require_approval" | "deny" | null
      /** The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. */
      new_payees?: components["schemas"]["Outcome"] | null
      /** The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ. */
      payee_verification?: "off" | "warn" | "require_approval" | "deny" | null
    }
    UpdateWorkspace: {
      /** The name. */
      name?: string
      /** The IANA time zone that decides when a day and a month begin. */
      time_zone?: string
    }
    UploadStatement: {
      /** The source of the statement, such as the file name. */
      source: string
      /** The provider's statement in CSV, as its portal exports it. */
      statement: string
    }
    Verification: {
      /** `match`, `close_match` and `no_match` compare the name that the rail reports with `legal_name`, or with `display_name` if there is none. `unavailable`: the rail returned no name, which proves nothing. `unverified`: the rail was not asked. */
      status: "unverified" | "match" | "close_match" | "no_match" | "unavailable"
      /** The name that the rail reports; M-PESA masks parts of it. Accounts without a successful payment see only the first name and initials, until a payment to this beneficiary succeeds. */
      name: string | null
      /** `lookup`: the rail was asked. `payment`: the result of a payment reported the name. `daily_limit`: not checked yet, because the account has used its lookups for the day; the check follows the next day. */
      source: "lookup" | "payment" | "daily_limit" | null
      /** When the name was last checked; null if never. */
      checked_at: string | null
    }
    VerifyWallet: {
      /** The signed text, byte for byte. */
      message: string
      /** The signature. */
      signature: string
      /** `sign_in` ignores and replaces the current session. `link` adds the wallet to the account of the session, which is required. A message for one intent is rejected for the other. If omitted, `link` applies if there is a session, otherwise `sign_in`. */
      intent?: "sign_in" | "link"
    }
    WalletNonce: {
      /** The nonce that makes the text valid only once. */
      nonce: string
      /** The domain in the message. */
      domain: string
      /** The URI for the text to sign (ERC-4361). */
      uri: string
      /** The statement in the message. */
      statement: string
      /** The accepted chains. */
      chain_ids: number[]
      /** When it was issued. */
      issued_at: string
      /** When it expires. */
      expires_at: string
      /** The message to sign. Present if the request contains an address. */
      message?: string
    }
    Workspace: {
      /** The unique ID. */
      id: string
      /** The name. */
      name: string
      /** The kind. */
      kind: "personal" | "team"
      /** The status. */
      status: "active" | "frozen" | "closed"
      /** The time zone that days and months use. A new one applies from the next local month. */
      time_zone: string
      /** When a changed `time_zone` takes effect; null if it was never changed. */
      time_zone_from: string | null
      /** The time zone that days and months use until `time_zone_from`; null if it was never changed. */
      previous_time_zone: string | null
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** The account that created the workspace. It never changes. */
      owning_account_id: string
      /** The balance that payments of the workspace use. Requires `account.read` in a personal workspace and `payment.read` in a team; otherwise null. Only the owning account can see a shared balance. */
      balance: {
        /** The currency of all amounts (ISO 4217). */
        currency: string
        /** The amount that can be spent now. */
        available_minor: string
        /** The amount reserved for payments in progress. */
        held_minor: string
      } | null
      /** Whether the team uses the balance of its owning account, as all teams did before version 0.4.0. `POST /v1/workspaces/current/separate-balance` gives the team its own balance. */
      balance_shared: boolean
      /** When it was created. */
      created_at: string
    }
    WorkspaceAuditEntry: {
      /** The unique ID. */
      id: string
      action: components["schemas"]["AuditAction"]
      /** The account that acted; null for the service and the server shell. */
      account_id: string | null
      /** The credential that was used. */
      credential: {
        /** The kind. */
        kind: string
        /** The unique ID. */
        id: string | null
      } | null
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The name of the key or agent that acted. */
      grant_label: string | null
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource that the action changed. */
      subject: {
        /** The kind. */
        type: string
        /** The unique ID. */
        id: string
      } | null
      /** The state before the action. */
      before: unknown
      /** The state after the action. */
      after: unknown
      /** The IP address of the request; null if unknown. */
      ip: string | null
      /** The user agent of the browser or program; null if unknown. */
      user_agent: string | null
      /** The `X-Request-Id` of the request; null if there was no request. */
      request_id: string | null
      /** When it was created. */
      created_at: string
      /** The payment that was changed or decided. For a whole batch, its first payment. */
      payment: {
        /** The unique ID. */
        id: string
        /** Minor units (cents) as a decimal string. */
        amount_minor: string
        /** The currency of all amounts (ISO 4217). */
        currency: string
        /** The beneficiary. */
        beneficiary: {
          /** The unique ID. */
          id: string
          /** The name that people see. */
          display_name: string
        }
        /** The batch of the payment. */
        batch: {
          /** The unique ID. */
          id: string
          /** The name. */
          name: string | null
        } | null
      } | null
    }
    WorkspaceGrant: {
      /** The unique ID. */
      id: string
      /** The ID of the workspace. */
      workspace_id: string
      /** The kind. */
      kind: "api_key" | "oauth"
      /** The name of the key or the agent. */
      label: string
      /** The permissions. */
      permissions: components["schemas"]["Permission"][]
      /** The parent grant; null if a person created the grant. */
      parent_grant_id: string | null
      spending_controls: components["schemas"]["SpendingControls"]
      /** The amounts that this grant and its descendants have used today and this month, in the time zone of the workspace, and in total. */
      usage: {
        /** Minor units (cents) as a decimal string. */
        today_minor: string
        /** Minor units (cents) as a decimal string. */
        month_minor: string
        /** Minor units (cents) as a decimal string. */
        total_minor: string
      }
      /** The remaining amount under the strictest limit of this grant and its parent grants, for each kind of limit. */
      headroom: {
        /** The amount for one payment, in minor units; null for no limit. */
        per_payment_minor: string | null
        /** The amount for the current day, in minor units; null for no limit. */
        today_minor: string | null
        /** The amount for the current month, in minor units; null for no limit. */
        month_minor: string | null
        /** The total amount, in minor units; null for no limit. */
        total_minor: string | null
      }
      /** Whether the grant is frozen: it still authenticates, but cannot move money. */
      frozen: boolean
      /** When it was created. */
      created_at: string
      /** When it was last used, to the minute; null if never. */
      last_used_at: string | null
      /** When it expires; null for never. */
      expires_at: string | null
      /** When it was revoked; null until then. */
      revoked_at: string | null
      /** The account that created the grant. */
      account_id: string
    }
    WorkspaceHistoryEntry: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "topup" | "payment_hold" | "payment" | "payment_release" | "payment_return" | "fee" | "separation" | "adjustment"
      /** The signed change of the available balance. All entries add up to the balance. A hold lowers it, a release raises it, and the payment itself is then 0. A charged late success is a payment without a hold, and lowers it. */
      amount_minor: string
      /** The signed change of the held amount. A hold raises it; its payment or release lowers it. */
      held_change_minor: string
      /** Null if the balance is shared or the caller may not see it. */
      available_after_minor: string | null
      /** The record that the entry belongs to. */
      reference: {
        /** The kind. */
        type: string
        /** The unique ID. */
        id: string
      }
      /** The paid beneficiary. Null if the entry is not a payment, or if the caller lacks `beneficiary.read`. */
      beneficiary: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
      } | null
      /** The batch that contains the payment. Null in the same cases as `beneficiary`. */
      batch: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string | null
      } | null
      /** The `Idempotency-Key` of the request that created the payment, its batch or the top-up. */
      idempotency_key: string | null
      /** The batch that contains the payment; null for a single payment. */
      batch_id: string | null
      /** The index of the payment in its batch, from 0. */
      batch_index: number | null
      /** When it was created. */
      created_at: string
    }
    WorkspaceStatement: {
      /** The first day or entry, inclusive. */
      from: string
      /** The last day, inclusive. */
      to: string
      /** The IANA time zone that decides when a day and a month begin. */
      time_zone: string
      /** The currency of all amounts (ISO 4217). */
      currency: string
      /** When the statement was read, if its last day has not ended yet; otherwise null. More can be booked until then, and the closing balance is the balance at that time. */
      unfinished_at: string | null
      /** The incoming total of the period; null until it has been calculated. */
      in_minor: string | null
      /** The outgoing total of the period; null until it has been calculated. */
      out_minor: string | null
      /** The totals of the entries. */
      totals: {
        /** The beneficiaries with the largest amounts, up to 1,000. */
        by_payee: {
          /** The unique ID. */
          id: string
          /** The name that people see. */
          display_name: string
          /** Minor units (cents) as a decimal string. */
          in_minor: string
          /** Minor units (cents) as a decimal string. */
          out_minor: string
          /** The number of entries. */
          entries: number
        }[]
        /** The totals by type of entry. */
        by_type: ({
          /** The kind. */
          type: "topup" | "payment" | "payment_return" | "fee" | "adjustment"
          /** Minor units (cents) as a decimal string. */
          in_minor: string
          /** Minor units (cents) as a decimal string. */
          out_minor: string
          /** The number of entries. */
          entries: number
        })[]
      } | null
      /** Whether the totals of the period have not been calculated yet, such as after an upgrade. `totals`, `in_minor` and `out_minor` are then null. */
      totals_pending: boolean
      /** Null if the balance is shared or the caller may not see it. */
      opening_balance_minor: string | null
      /** Null if the balance is shared or the caller may not see it. */
      closing_balance_minor: string | null
      /** The ledger entries, oldest first. */
      entries: components["schemas"]["WorkspaceStatementEntry"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    WorkspaceStatementEntry: {
      /** When it happened. */
      at: string
      /** `payment_return`: a payment that the rail sent back. `adjustment` includes the separation of a balance, which the history calls `separation`. */
      type: "topup" | "payment" | "payment_return" | "fee" | "adjustment"
      /** The paid beneficiary; null if the entry is not a payment. */
      payee: {
        /** The unique ID. */
        id: string
        /** The name that people see. */
        display_name: string
        /** The last characters of the destination. The destination itself is never shown. */
        destination_mask: string
      } | null
      /** The rail that pays the beneficiary. */
      payment_rail: components["schemas"]["Rail"] | null
      /** The ISO 20022 external purpose code of the payment; null if none. */
      purpose_code: string | null
      /** The batch of the payment. */
      batch: {
        /** The unique ID. */
        id: string
        /** The name. */
        name: string | null
      } | null
      /** The `Idempotency-Key` of the request that created the payment, its batch or the top-up. */
      idempotency_key: string | null
      /** The batch that contains the payment; null for a single payment. */
      batch_id: string | null
      /** The index of the payment in its batch, from 0. */
      batch_index: number | null
      /** The signed amount; negative for outgoing money. */
      amount_minor: string
      /** The fee of the payment, which is a separate entry (`fee`); "0" if there is none. */
      fee_minor: string
      /** The reference on the payment; null if there is none. */
      reference: string | null
      /** The purpose, which the approver reads. */
      narrative: string | null
      /** Your own references. */
      metadata: Record<string, string>
      /** The receipt number from the rail or bank; null if there is none. */
      provider_receipt: string | null
      /** The requester. */
      requested_by: string | null
      /** The display name of the requester, or their first wallet if there is none. */
      requested_by_name: string | null
      /** The label of the API key or agent that requested it. */
      requested_through: string | null
      /** The grant of the API key or agent; null for a person. */
      grant_id: string | null
      /** The accounts that approved it; empty if no approval was needed. */
      approved_by: string[]
      /** The names of the approvers, in the order of `approved_by`. */
      approved_by_names: (string | null)[]
      /** The ID of the payment. */
      payment_id: string | null
      /** The ID of the top-up; null if there is none. */
      topup_id: string | null
      /** Null if the balance is shared or the caller may not see it. */
      balance_after_minor: string | null
    }
    WorkspaceView: {
      /** The workspace. */
      workspace: components["schemas"]["Workspace"]
      /** The membership of the account. */
      membership: {
        role: components["schemas"]["Role"]
        /** The status. */
        status: "active" | "invited" | "suspended"
      }
    }
    HistoryEntryPage: {
      /** The items of this page. */
      data: components["schemas"]["HistoryEntry"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    WorkspaceHistoryEntryPage: {
      /** The items of this page. */
      data: components["schemas"]["WorkspaceHistoryEntry"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    LoggedRequestPage: {
      /** The items of this page. */
      data: components["schemas"]["LoggedRequest"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    GrantPage: {
      /** The items of this page. */
      data: components["schemas"]["Grant"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    GrantList: {
      /** The items of this page. */
      data: components["schemas"]["Grant"][]
    }
    ApiKeyPage: {
      /** The items of this page. */
      data: components["schemas"]["ApiKey"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    IdentityPage: {
      /** The items of this page. */
      data: components["schemas"]["Identity"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    PasskeyPage: {
      /** The items of this page. */
      data: components["schemas"]["Passkey"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    SessionPage: {
      /** The items of this page. */
      data: components["schemas"]["Session"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    WorkspaceViewPage: {
      /** The items of this page. */
      data: components["schemas"]["WorkspaceView"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    MemberPage: {
      /** The items of this page. */
      data: components["schemas"]["Member"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    InvitationPage: {
      /** The items of this page. */
      data: components["schemas"]["Invitation"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    WorkspaceGrantPage: {
      /** The items of this page. */
      data: components["schemas"]["WorkspaceGrant"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    WorkspaceAuditEntryPage: {
      /** The items of this page. */
      data: components["schemas"]["WorkspaceAuditEntry"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    BeneficiaryPage: {
      /** The items of this page. */
      data: components["schemas"]["Beneficiary"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    NameCheckPage: {
      /** The items of this page. */
      data: components["schemas"]["NameCheck"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    SpendingPolicyPage: {
      /** The items of this page. */
      data: components["schemas"]["SpendingPolicy"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    PushSubscriptionPage: {
      /** The items of this page. */
      data: components["schemas"]["PushSubscription"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    EventPage: {
      /** The items of this page. */
      data: components["schemas"]["Event"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    PaymentBatchPage: {
      /** The items of this page. */
      data: components["schemas"]["PaymentBatch"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    RefusedPaymentPage: {
      /** The items of this page. */
      data: components["schemas"]["RefusedPayment"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    PaymentPage: {
      /** The items of this page. */
      data: components["schemas"]["Payment"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    ApprovalPage: {
      /** The items of this page. */
      data: components["schemas"]["Approval"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    IntentMandatePage: {
      /** The items of this page. */
      data: components["schemas"]["IntentMandate"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    AdminAccountPage: {
      /** The items of this page. */
      data: components["schemas"]["AdminAccount"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    AdminPaymentPage: {
      /** The items of this page. */
      data: components["schemas"]["AdminPayment"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    AdjustmentPage: {
      /** The items of this page. */
      data: components["schemas"]["Adjustment"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    SuspenseItemPage: {
      /** The items of this page. */
      data: components["schemas"]["SuspenseItem"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    ProviderAlertPage: {
      /** The items of this page. */
      data: components["schemas"]["ProviderAlert"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    ProviderMovementPage: {
      /** The items of this page. */
      data: components["schemas"]["ProviderMovement"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    ReconciliationPage: {
      /** The items of this page. */
      data: components["schemas"]["Reconciliation"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    ReconciliationDifferencePage: {
      /** The items of this page. */
      data: components["schemas"]["ReconciliationDifference"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    AuditEntryPage: {
      /** The items of this page. */
      data: components["schemas"]["AuditEntry"][]
      /** The `cursor` of the next page; null on the last page. */
      next_cursor: string | null
    }
    BalanceEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "balance.updated"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Account"] | components["schemas"]["Workspace"]
    }
    TopupEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "topup.succeeded" | "topup.failed" | "topup.expired"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Topup"]
    }
    PaymentEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "payment.created" | "payment.processing" | "payment.succeeded" | "payment.failed" | "payment.rejected" | "payment.cancelled" | "payment.expired" | "payment.unknown" | "payment.returned" | "payment.late_success"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Payment"]
    }
    PaymentBatchEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "payment_batch.created" | "payment_batch.processing" | "payment_batch.completed" | "payment_batch.failed" | "payment_batch.rejected" | "payment_batch.expired" | "payment_batch.cancelled"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["PaymentBatch"]
    }
    ApprovalEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "approval.requested" | "approval.approved" | "approval.rejected" | "approval.expired" | "approval.cancelled" | "approval.decision_voided"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Approval"]
    }
    MandateEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "mandate.created" | "mandate.exhausted" | "mandate.expired" | "mandate.revoked"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["IntentMandate"]
    }
    BeneficiaryEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "beneficiary.created" | "beneficiary.updated" | "beneficiary.archived"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Beneficiary"]
    }
    PolicyEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "policy.created" | "policy.updated" | "policy.archived" | "policy.change_requested" | "policy.change_withdrawn"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["SpendingPolicy"]
    }
    ApiKeyEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "api_key.created" | "api_key.rotated" | "api_key.revoked"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["ApiKey"]
    }
    GrantEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "grant.created" | "grant.updated" | "grant.revoked"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Grant"]
    }
    IdentityEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "identity.linked" | "identity.unlinked"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Identity"]
    }
    PasskeyEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "passkey.added" | "passkey.removed"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Passkey"]
    }
    SessionEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "session.created" | "session.revoked"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Session"]
    }
    MemberEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "member.joined" | "member.updated" | "member.removed"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Member"]
    }
    WorkspaceEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "workspace.frozen" | "workspace.unfrozen" | "workspace.updated" | "workspace.separation_requested" | "workspace.separated" | "workspace.separation_withdrawn"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Workspace"]
    }
    BalanceShortEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "balance.short"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["BalanceShortage"]
    }
    PaymentRefusedEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "payment.refused"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["RefusedPayment"]
    }
    InvitationEvent: {
      /** The unique ID. */
      id: string
      /** The kind. */
      type: "member.invited"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The resource after the event, as REST returns it. */
      data: components["schemas"]["Invitation"]
    }
    BalanceShortage: {
      /** The ID of the workspace. */
      workspace_id: string
      /** The amount missing from the balance. */
      missing_minor: string
      /** The amount due within two days, including fees. */
      scheduled_minor: string
      /** When the balance first becomes too low. */
      due_at: string
    }
    StreamResetEvent: {
      /** The unique ID. */
      id: null
      /** The kind. */
      type: "stream.reset"
      /** When it was created. */
      created_at: string
      /** The ID of the account. */
      account_id: string
      /** The ID of the workspace; null if the record belongs only to the account. */
      workspace_id: string | null
      /** The reason, and how far back events are stored. */
      data: {
        /** The text, for people. */
        message: string
        /** The number of days that events are kept. */
        retention_days: number
      }
    }
    StreamEvent: components["schemas"]["BalanceEvent"] | components["schemas"]["TopupEvent"] | components["schemas"]["PaymentEvent"] | components["schemas"]["PaymentBatchEvent"] | components["schemas"]["ApprovalEvent"] | components["schemas"]["MandateEvent"] | components["schemas"]["BeneficiaryEvent"] | components["schemas"]["PolicyEvent"] | components["schemas"]["ApiKeyEvent"] | components["schemas"]["GrantEvent"] | components["schemas"]["IdentityEvent"] | components["schemas"]["PasskeyEvent"] | components["schemas"]["SessionEvent"] | components["schemas"]["MemberEvent"] | components["schemas"]["WorkspaceEvent"] | components["schemas"]["BalanceShortEvent"] | components["schemas"]["PaymentRefusedEvent"] | components["schemas"]["InvitationEvent"] | components["schemas"]["StreamResetEvent"]
    ErrorCode: "invalid_request" | "invalid_cursor" | "authentication_required" | "invalid_token" | "token_expired" | "api_key_revoked" | "api_key_expired" | "session_revoked" | "invalid_signature" | "insufficient_funds" | "forbidden" | "admin_required" | "step_up_required" | "workspace_frozen" | "grant_frozen" | "beneficiary_frozen" | "membership_suspended" | "account_frozen" | "capability_disabled" | "policy_denied" | "separation_of_duties" | "csrf_rejected" | "not_found" | "method_not_allowed" | "conflict" | "last_identity" | "last_owner" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "provider_error" | "provider_not_configured" | "unavailable"
    Permission: "account.read" | "account.manage" | "key.manage" | "grant.manage" | "workspace.read" | "workspace.manage" | "beneficiary.read" | "beneficiary.manage" | "policy.read" | "policy.manage" | "policy.create" | "payment.read" | "payment.create" | "approval.read" | "approval.decide" | "mandate.read" | "mandate.manage" | "topup.read" | "topup.create" | "audit.read"
    Role: "owner" | "admin" | "approver" | "member" | "viewer" | "auditor"
    Rail: "MPESA_B2B" | "MPESA_B2C" | "PESALINK"
    PaymentStatus: "scheduled" | "pending_approval" | "processing" | "succeeded" | "failed" | "unknown" | "rejected" | "expired" | "cancelled" | "returned"
    PaymentBatchStatus: "scheduled" | "pending_approval" | "processing" | "completed" | "failed" | "rejected" | "expired" | "cancelled"
    TopupStatus: "pending" | "succeeded" | "failed" | "expired"
    ApprovalStatus: "pending" | "approved" | "rejected" | "expired" | "cancelled"
    ApprovalDecision: "approve" | "reject"
    MandateStatus: "active" | "exhausted" | "expired" | "revoked"
    Outcome: "allow" | "require_approval" | "deny"
    Rule: "payments" | "per_payment_limit" | "daily_limit" | "monthly_limit" | "total_limit" | "approval_threshold" | "required_approval_count" | "payment_types" | "beneficiary_ids" | "mandate_status" | "mandate_window" | "mandate_workspace" | "mandate_initiator" | "mandate_signature" | "mandate_unconfirmed" | "mandate_payment_types" | "mandate_beneficiary_ids" | "mandate_per_payment" | "mandate_total" | "mandate_max_payments" | "mandate_signer" | "possible_duplicate" | "unconfirmed_duplicate" | "earlier_unknown" | "unconfirmed_payee" | "payee_verification" | "eligible_approvers" | "workspace_frozen" | "account_frozen" | "grant_frozen" | "beneficiary_frozen" | "invalid_token" | "conflict" | "capability_disabled" | "forbidden" | "provider_not_configured" | "available_balance" | "amount_minor" | "account_reference" | "payment_type"
    FailureCode: "payer_insufficient_funds" | "float_insufficient" | "amount_too_small" | "amount_too_large" | "other_amount" | "daily_limit_reached" | "receiver_limit_reached" | "provider_rule" | "provider_busy" | "payer_busy" | "prompt_expired" | "prompt_not_delivered" | "prompt_cancelled" | "prompt_unanswered" | "wrong_pin" | "initiator_refused" | "account_inactive" | "account_locked" | "receiver_not_registered" | "unknown_operator" | "provider_declined" | "provider_cancelled" | "provider_expired" | "provider_failed" | "provider_refused" | "provider_unreachable" | "invalid_amount" | "invalid_destination" | "invalid_account_reference" | "invalid_reference" | "wrong_rail" | "insufficient_funds" | "policy_denied" | "approval_expired" | "policy_changed" | "resolved_by_operator"
    AuditAction: "api_key.create" | "api_key.revoke" | "api_key.rotate" | "approval.approve" | "approval.approved" | "approval.cancelled" | "approval.decision_voided" | "approval.expired" | "approval.refused" | "approval.reject" | "approval.rejected" | "approval.text_changed" | "beneficiary.archived" | "beneficiary.confirmed" | "beneficiary.created" | "beneficiary.name_check" | "beneficiary.updated" | "grant.create" | "grant.revoke" | "grant.update" | "invitation.accept" | "invitation.create" | "invitation.revoke" | "mandate.create" | "mandate.exhausted" | "mandate.expired" | "mandate.refused" | "mandate.revoked" | "member.leave" | "member.remove" | "member.update" | "oauth_client.register" | "oauth_code.reused" | "oauth_consent.approve" | "oauth_consent.deny" | "oauth_token.issue" | "oauth_token.refresh" | "oauth_token.reused" | "oauth_token.revoke" | "payment_batch.cancelled" | "payment_batch.completed" | "payment_batch.create" | "payment_batch.denied" | "payment_batch.expired" | "payment_batch.failed" | "payment_batch.processing" | "payment_batch.rejected" | "payment.cancelled" | "payment.create" | "payment.denied" | "payment.expired" | "payment.failed" | "payment.late_success" | "payment.late_success_charged" | "payment.late_success_written_off" | "payment.processing" | "payment.receipt" | "payment.rejected" | "payment.returned" | "payment.succeeded" | "payment.unknown" | "policy.archived" | "policy.change_requested" | "policy.change_withdrawn" | "policy.created" | "policy.updated" | "suspense.record" | "topup.deposit" | "topup.expired" | "topup.failed" | "topup.initiate" | "topup.other_amount" | "topup.receipt" | "topup.succeeded" | "workspace.create" | "workspace.export_evidence" | "workspace.freeze" | "workspace.unfreeze" | "workspace.update" | "workspace.separate" | "workspace.separation_request" | "workspace.separation_confirm" | "workspace.separation_withdraw" | "account.close" | "account.update" | "admin.account_update" | "admin.adjustment_cancel" | "admin.adjustment_post" | "admin.adjustment_reject" | "admin.adjustment_request" | "admin.assign_suspense" | "admin.delivery_retry" | "admin.enter_suspense_amount" | "admin.export_person" | "admin.grant" | "admin.invite" | "admin.name_movement" | "admin.pass_duplicate_check" | "admin.pause_rail" | "admin.payment_resolve" | "admin.reconcile" | "admin.resolve_difference" | "admin.resolve_provider_alert" | "admin.resolve_suspense" | "admin.resolve_suspense_request" | "admin.resume_rail" | "admin.revoke" | "admin.retire_receipt_key" | "admin.rotate_keys" | "admin.workspace_reinstate" | "admin.workspace_suspend" | "dashboard_token.create" | "identity.link" | "identity.link_refused" | "identity.link_start" | "identity.unlink" | "notification_settings.update" | "passkey.add" | "passkey.remove" | "push_subscription.add" | "push_subscription.remove" | "session.create" | "session.prove" | "session.prove_refused" | "session.revoke" | "sign_in.refused" | "sign_in.start" | "workspace.switch"
    ErrorReason: "already_member" | "already_recorded" | "archived" | "balance" | "balance_own" | "batch_item" | "change_pending" | "decided" | "exhausted" | "expired" | "grant_ended" | "idempotency" | "identity" | "invitation_accepted" | "invitation_expired" | "invitation_revoked" | "limit_reached" | "late_success" | "message_changed" | "no_offer" | "nonce" | "not_assignable" | "passkey" | "paybill_frozen" | "payment" | "possible_duplicate" | "provider_receipt" | "rail_may_answer" | "revoked" | "rotated" | "self" | "status" | "version" | "database_lost_writes" | "not_an_approver" | "sign_up" | "upgrade_running"
  }
}
