# SPDX-License-Identifier: Apache-2.0
# A second failure of another kind on another host is shown beside the first one, not lost behind it.
cat > two.log << 'END'
n1:1:9 [0] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory
n2:1:9 [0] misc/ibvwrap.cc:194 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address
END
"$PINDOWN" check two.log > out || true
has out 'also      two.log:2'
has out 'n2:1:9'
