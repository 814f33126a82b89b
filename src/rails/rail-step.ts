/**
 * The steps of a payment that a rail is asked about. PAY_REQUEST: whether the sender of an incoming UMA payment, who has
 * looked its receiver up, has asked to pay (`settled` then). PULL: the collection that comes before a payment paid from an
 * account outside. SETTLEMENT: the delivery or collection that ends a payment.
 */
export type RailStep = 'PAY_REQUEST' | 'PULL' | 'SETTLEMENT';
