// Made by `npm run client:generate`. Do not edit.
import { type Document, documentOf } from '../document.ts';
import * as of from './operations.ts';

export type * from './operations.ts';
export const AddPayee: Document<of.AddPayeeMutation, of.AddPayeeMutationVariables> = /* @__PURE__ */ documentOf(
  of.AddPayee,
);
export const CancelQuote: Document<of.CancelQuoteMutation, of.CancelQuoteMutationVariables> = /* @__PURE__ */ documentOf(
  of.CancelQuote,
);
export const CreateQuote: Document<of.CreateQuoteMutation, of.CreateQuoteMutationVariables> = /* @__PURE__ */ documentOf(
  of.CreateQuote,
);
export const ExecuteQuote: Document<of.ExecuteQuoteMutation, of.ExecuteQuoteMutationVariables> = /* @__PURE__ */ documentOf(
  of.ExecuteQuote,
);
export const History: Document<of.HistoryQuery, of.HistoryQueryVariables> = /* @__PURE__ */ documentOf(
  of.History,
);
export const Home: Document<of.HomeQuery, of.HomeQueryVariables> = /* @__PURE__ */ documentOf(
  of.Home,
);
export const LookUpReceiver: Document<of.LookUpReceiverMutation, of.LookUpReceiverMutationVariables> = /* @__PURE__ */ documentOf(
  of.LookUpReceiver,
);
export const PayIn: Document<of.PayInQuery, of.PayInQueryVariables> = /* @__PURE__ */ documentOf(
  of.PayIn,
);
export const PayeeForm: Document<of.PayeeFormQuery, of.PayeeFormQueryVariables> = /* @__PURE__ */ documentOf(
  of.PayeeForm,
);
export const PayeePicker: Document<of.PayeePickerQuery, of.PayeePickerQueryVariables> = /* @__PURE__ */ documentOf(
  of.PayeePicker,
);
export const Quote: Document<of.QuoteQuery, of.QuoteQueryVariables> = /* @__PURE__ */ documentOf(
  of.Quote,
);
export const Receipt: Document<of.ReceiptQuery, of.ReceiptQueryVariables> = /* @__PURE__ */ documentOf(
  of.Receipt,
);
export const Statement: Document<of.StatementQuery, of.StatementQueryVariables> = /* @__PURE__ */ documentOf(
  of.Statement,
);
export const Transactions: Document<of.TransactionsQuery, of.TransactionsQueryVariables> = /* @__PURE__ */ documentOf(
  of.Transactions,
);
export const Transaction: Document<of.TransactionQuery, of.TransactionQueryVariables> = /* @__PURE__ */ documentOf(
  of.Transaction,
);
export const FollowTransaction: Document<of.FollowTransactionSubscription, of.FollowTransactionSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.FollowTransaction,
);
export const FollowTransactions: Document<of.FollowTransactionsSubscription, of.FollowTransactionsSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.FollowTransactions,
);
export const TransactionList: Document<of.TransactionListSubscription, of.TransactionListSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.TransactionList,
);
export const FollowAccounts: Document<of.FollowAccountsSubscription, of.FollowAccountsSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.FollowAccounts,
);
export const SupportSearch: Document<of.SupportSearchQuery, of.SupportSearchQueryVariables> = /* @__PURE__ */ documentOf(
  of.SupportSearch,
);
export const SupportView: Document<of.SupportViewQuery, of.SupportViewQueryVariables> = /* @__PURE__ */ documentOf(
  of.SupportView,
);
export const Resend: Document<of.ResendMutation, of.ResendMutationVariables> = /* @__PURE__ */ documentOf(
  of.Resend,
);
export const Replay: Document<of.ReplayMutation, of.ReplayMutationVariables> = /* @__PURE__ */ documentOf(
  of.Replay,
);
export const TestEndpoint: Document<of.TestEndpointMutation, of.TestEndpointMutationVariables> = /* @__PURE__ */ documentOf(
  of.TestEndpoint,
);
export const FindCustomer: Document<of.FindCustomerQuery, of.FindCustomerQueryVariables> = /* @__PURE__ */ documentOf(
  of.FindCustomer,
);
export const CreateCustomer: Document<of.CreateCustomerMutation, of.CreateCustomerMutationVariables> = /* @__PURE__ */ documentOf(
  of.CreateCustomer,
);
export const NoteOnCustomer: Document<of.NoteOnCustomerMutation, of.NoteOnCustomerMutationVariables> = /* @__PURE__ */ documentOf(
  of.NoteOnCustomer,
);
export const AccountsOfCustomer: Document<of.AccountsOfCustomerQuery, of.AccountsOfCustomerQueryVariables> = /* @__PURE__ */ documentOf(
  of.AccountsOfCustomer,
);
export const NameAccount: Document<of.NameAccountMutation, of.NameAccountMutationVariables> = /* @__PURE__ */ documentOf(
  of.NameAccount,
);
export const SetAccountStatus: Document<of.SetAccountStatusMutation, of.SetAccountStatusMutationVariables> = /* @__PURE__ */ documentOf(
  of.SetAccountStatus,
);
export const Fund: Document<of.FundMutation, of.FundMutationVariables> = /* @__PURE__ */ documentOf(
  of.Fund,
);
export const SandboxQuote: Document<of.SandboxQuoteMutation, of.SandboxQuoteMutationVariables> = /* @__PURE__ */ documentOf(
  of.SandboxQuote,
);
export const Deposit: Document<of.DepositMutation, of.DepositMutationVariables> = /* @__PURE__ */ documentOf(
  of.Deposit,
);
export const TransferOut: Document<of.TransferOutMutation, of.TransferOutMutationVariables> = /* @__PURE__ */ documentOf(
  of.TransferOut,
);
export const TransferIn: Document<of.TransferInMutation, of.TransferInMutationVariables> = /* @__PURE__ */ documentOf(
  of.TransferIn,
);
export const ReceiveUma: Document<of.ReceiveUmaMutation, of.ReceiveUmaMutationVariables> = /* @__PURE__ */ documentOf(
  of.ReceiveUma,
);
export const Whoami: Document<of.WhoamiQuery, of.WhoamiQueryVariables> = /* @__PURE__ */ documentOf(
  of.Whoami,
);
export const LatestEvents: Document<of.LatestEventsQuery, of.LatestEventsQueryVariables> = /* @__PURE__ */ documentOf(
  of.LatestEvents,
);
export const Tail: Document<of.TailSubscription, of.TailSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.Tail,
);
export const WebhookBodies: Document<of.WebhookBodiesSubscription, of.WebhookBodiesSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.WebhookBodies,
);
export const WebhookBody: Document<of.WebhookBodyQuery, of.WebhookBodyQueryVariables> = /* @__PURE__ */ documentOf(
  of.WebhookBody,
);
export const FollowPayment: Document<of.FollowPaymentSubscription, of.FollowPaymentSubscriptionVariables> = /* @__PURE__ */ documentOf(
  of.FollowPayment,
);
export const Deliveries: Document<of.DeliveriesQuery, of.DeliveriesQueryVariables> = /* @__PURE__ */ documentOf(
  of.Deliveries,
);
