export declare function slowdown(): number;
